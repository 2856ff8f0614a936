// What is wrong with the layout of a page, a sentence each; layout.py says what that is.
() => {
  const slack = 1.5; // pixels by which boxes of letters may touch
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push(`scrolls sideways: ${root.scrollWidth} of ${innerWidth} pixels`);
  const seen = (element) => element.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true });
  const floats = (element) => { // it stands above the page on purpose
    for (let at = element; at; at = at.parentElement) if (getComputedStyle(at).position === "fixed") return true;
    return false;
  };
  const clips = new Map();
  const clip = (element) => { // the part of the window in which an element can be seen
    if (!element) return { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 };
    if (clips.has(element)) return clips.get(element);
    let shown = clip(element.parentElement);
    if (element !== document.body && element !== root && getComputedStyle(element).overflowX !== "visible") {
      const box = element.getBoundingClientRect();
      shown = { left: Math.max(shown.left, box.left), top: Math.max(shown.top, box.top),
        right: Math.min(shown.right, box.right), bottom: Math.min(shown.bottom, box.bottom) };
    }
    clips.set(element, shown);
    return shown;
  };
  const corners = ({ left, top, right, bottom }) => [[left, top], [right, top], [right, bottom], [left, bottom]];
  const isRead = (words) => /[\p{L}\p{N}]/u.test(words); // a hatch is no text
  const boxes = [];
  const add = (owner, words, corners) => {
    const [across, down] = [0, 1].map((side) => corners.map((corner) => corner[side]));
    boxes.push({ owner, words: words.trim().replace(/\s+/g, " ").slice(0, 40), corners, top: Math.min(...down), bottom: Math.max(...down),
      left: Math.min(...across), right: Math.max(...across) });
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const owner = node.parentElement;
    if (!isRead(node.data) || owner.closest("svg, script, style, option") || !seen(owner) || floats(owner)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const shown = clip(owner);
      const part = { left: Math.max(box.left, shown.left), top: Math.max(box.top, shown.top),
        right: Math.min(box.right, shown.right), bottom: Math.min(box.bottom, shown.bottom) };
      if (part.right - part.left > 2 && part.bottom - part.top > 2) add(node, node.data, corners(part));
    }
  }
  for (const element of document.querySelectorAll("svg text")) {
    if (!isRead(element.textContent) || !seen(element) || floats(element)) continue;
    if (element.closest("[opacity='0']") || element.getAttribute("opacity") === "0") continue;
    const { x, y, width, height } = element.getBBox(), matrix = element.getScreenCTM();
    if (width < 1) continue;
    const of = corners({ left: x, top: y + 0.15 * height, right: x + width, bottom: y + 0.9 * height }) // the letters, without the leading
      .map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix)).map(({ x, y }) => [x, y]);
    add(element, element.textContent, of);
    const at = boxes.at(-1), shown = clip(element.closest("svg").parentElement);
    if (at.left < shown.left - slack || at.right > shown.right + slack) faults.push(`is cut off: ${at.words}`);
  }
  const depth = (one, other) => { // by how much two convex figures overlap: the least over the directions of their sides
    let least = Infinity;
    for (const figure of [one, other]) for (let at = 0; at < 4; at++) {
      const [from, to] = [figure[at], figure[(at + 1) % 4]];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const normal = [(from[1] - to[1]) / length, (to[0] - from[0]) / length];
      const reach = (corners) => corners.map((corner) => corner[0] * normal[0] + corner[1] * normal[1]);
      const [a, b] = [reach(one), reach(other)];
      least = Math.min(least, Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b)));
    }
    return least;
  };
  boxes.sort((one, other) => one.top - other.top);
  boxes.forEach((one, at) => {
    for (let next = at + 1; next < boxes.length && boxes[next].top < one.bottom; next++) {
      const other = boxes[next];
      if (one.owner === other.owner || other.left > one.right || other.right < one.left) continue;
      if (depth(one.corners, other.corners) > slack) faults.push(`stand on each other: ${one.words} | ${other.words}`);
    }
  });
  return [...new Set(faults)];
}
