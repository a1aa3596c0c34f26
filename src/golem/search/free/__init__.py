"""The search over orders with free noise variances: one covariance, one column per node."""
