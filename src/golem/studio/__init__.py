"""`golem studio`: learn a graph, look at it, say what you know, and learn again, in a browser.

A thin layer over `workflow`: `edits` says what a user can change, `journal` keeps it, `worker` learns in a child
process, `session` ties them together, and `server` is the JSON API and the page. Starlette and uvicorn are imported
when a server starts (`pip install 'golem-dag[studio]'`).
"""
