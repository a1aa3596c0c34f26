// The drawing as a file: as SVG with its colours, or as PNG at twice its size.
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function saveSvg() {
  download(new Blob([canvas.picture().text], { type: "image/svg+xml" }), "graph.svg");
}

function savePng() {
  const { text, width, height } = canvas.picture();
  const scale = Math.min(2, 12000 / Math.max(width, height));
  const image = new Image();
  image.addEventListener("load", () => {
    const paper = make("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    paper.getContext("2d").drawImage(image, 0, 0, paper.width, paper.height);
    paper.toBlob((blob) => download(blob, "graph.png"), "image/png");
  });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
