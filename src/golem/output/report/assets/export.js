// The drawing as a file: as SVG with its colours, or as PNG at twice its size.
function pictureText() {
  const copy = svg.cloneNode(true);
  const styled = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "stroke-linejoin"];
  const [originals, copies] = [svg.querySelectorAll("#scene *"), copy.querySelectorAll("#scene *")];
  originals.forEach((original, k) => {
    const style = getComputedStyle(original);
    for (const name of styled) copies[k].setAttribute(name, style.getPropertyValue(name));
    copies[k].removeAttribute("style");
  });
  copy.querySelectorAll(".hit, .gone, .faded").forEach((element) => element.remove());
  const box = scene.getBBox();
  const [width, height] = [Math.ceil(box.width + 32), Math.ceil(box.height + 32)];
  copy.querySelector("#scene").removeAttribute("transform");
  copy.setAttribute("viewBox", `${box.x - 16} ${box.y - 16} ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", "system-ui, sans-serif");
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  copy.prepend(make("rect", { x: box.x - 16, y: box.y - 16, width, height, fill: ground }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

// In print the drawing fills its frame, whatever the zoom on the screen.
window.addEventListener("beforeprint", () => {
  const box = scene.getBBox();
  scene.removeAttribute("transform");
  svg.setAttribute("viewBox", `${box.x - 8} ${box.y - 8} ${box.width + 16} ${box.height + 16}`);
});
window.addEventListener("afterprint", () => {
  svg.removeAttribute("viewBox");
  showCamera();
});

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function saveSvg() {
  download(new Blob([pictureText().text], { type: "image/svg+xml" }), "graph.svg");
}

function savePng() {
  const { text, width, height } = pictureText();
  const scale = Math.min(2, 12000 / Math.max(width, height));
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = make("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, "graph.png"), "image/png");
  });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
