// Draws a picture on a canvas: pan, zoom, what is under the pointer. Knows boxes and lines, not what they mean.

const PAPERS = {
  light: { paper: '#ffffff', ink: '#14202b', pale: '#4b5967', line: '#8794a1', wrong: '#b3261e', strong: '#0b57d0' },
  dark: { paper: '#0d141c', ink: '#eef3f7', pale: '#a9b6c3', line: '#6d7b89', wrong: '#ff8a80', strong: '#8ab4f8' },
};
const BOLD = '600 13px system-ui, sans-serif';
const PLAIN = '10.5px system-ui, sans-serif';
const LINE_WORDS = '9.5px system-ui, sans-serif';
const LEAST_SCALE = 0.01;
const MOST_SCALE = 3;
// Longer than this for one frame, and moving shows the last frame moved.
const SLOW = 14;

export class Canvas {
  constructor(hues) {
    this.node = document.createElement('canvas');
    this.node.tabIndex = 0;
    this.hues = hues;
    this.view = { x: 0, y: 0, scale: 1 };
    this.picture = { shapes: [], links: [], strokes: [], width: 0, height: 0 };
    this.paths = [];
    this.marked = { node: null, links: new Set(), shapes: null };
    this.onpick = () => {};
    this.onopen = () => {};
    this.frame = document.createElement('canvas');
    this.frameView = null;
    this.lastCost = 0;
    this.frames = [];
    this.pointers = new Map();
    this.listen();
    this.size = { width: 0, height: 0 };
    new ResizeObserver(() => this.resize()).observe(this.node);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  get paper() {
    return matchMedia('(prefers-color-scheme: dark)').matches ? PAPERS.dark : PAPERS.light;
  }

  hue(at) {
    const hue = this.hues[at] || this.hues[this.hues.length - 1];
    return matchMedia('(prefers-color-scheme: dark)').matches ? hue.dark : hue.light;
  }

  resize() {
    const { width, height } = this.node.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    const isFirst = !this.size.width;
    this.size = { width, height };
    this.node.width = Math.round(width * ratio);
    this.node.height = Math.round(height * ratio);
    if (isFirst) this.fit();
    this.draw();
  }

  // Shows another picture; `anchor` is a box that stays where it is.
  show(picture, anchor) {
    const before = anchor && this.picture.shapes.find((shape) => shape.id === anchor);
    const after = anchor && picture.shapes.find((shape) => shape.id === anchor);
    this.picture = picture;
    this.paths = picture.strokes.map(strokePath);
    this.boxes = picture.strokes.map(strokeBox);
    if (before && after) {
      this.view.x += (before.place[0] - after.place[0]) * this.view.scale;
      this.view.y += (before.place[1] - after.place[1]) * this.view.scale;
    }
    this.draw();
  }

  fit(place) {
    const { width, height } = this.size;
    const [x, y, wide, high] = place || [0, 0, this.picture.width, this.picture.height];
    if (!width || !wide) return;
    const least = place ? 0.6 : 0;
    const scale = Math.max(least, Math.min(1.2, (width - 48) / wide, (height - 48) / Math.max(high, 1)));
    this.view = { scale, x: width / 2 - (x + wide / 2) * scale, y: height / 2 - (y + high / 2) * scale };
    if (!place && high * scale < height - 48) this.view.y = 24 + (height - 48 - high * scale) / 3;
    this.draw();
  }

  center(id) {
    const shape = this.picture.shapes.find((one) => one.id === id);
    if (!shape) return false;
    const [x, y, wide, high] = shape.place;
    const scale = Math.max(this.view.scale, 0.75);
    this.view = {
      scale,
      x: this.size.width / 2 - (x + Math.min(wide, 300) / 2) * scale,
      y: this.size.height / 2 - (y + Math.min(high, 200) / 2) * scale,
    };
    this.draw();
    return true;
  }

  isVisible(id) {
    const shape = this.picture.shapes.find((one) => one.id === id);
    if (!shape) return false;
    const { x, y, scale } = this.view;
    const [left, top] = [shape.place[0] * scale + x, shape.place[1] * scale + y];
    return left > 0 && top > 0 && left < this.size.width - 60 && top < this.size.height - 30;
  }

  zoom(factor, at) {
    const point = at || { x: this.size.width / 2, y: this.size.height / 2 };
    const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, this.view.scale * factor));
    const real = scale / this.view.scale;
    this.view = {
      scale,
      x: point.x - (point.x - this.view.x) * real,
      y: point.y - (point.y - this.view.y) * real,
    };
    this.move();
  }

  // Marks a node, lines, and the boxes that are not dimmed (all if there is no set).
  mark(node, links, shapes) {
    this.marked = { node, links: links || new Set(), shapes: shapes || null };
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => this.paint());
  }

  // The view has moved: what takes long is drawn when it rests.
  move() {
    if (this.lastCost < SLOW || !this.frameView) return this.draw();
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => this.paintMoved());
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.draw(), 120);
  }

  paintMoved() {
    const begun = performance.now();
    const context = this.node.getContext('2d');
    const ratio = devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.paper.paper;
    context.fillRect(0, 0, this.node.width, this.node.height);
    const scale = this.view.scale / this.frameView.scale;
    const x = (this.view.x - this.frameView.x * scale) * ratio;
    const y = (this.view.y - this.frameView.y * scale) * ratio;
    context.drawImage(this.frame, x, y, this.frame.width * scale, this.frame.height * scale);
    this.note(begun);
  }

  note(begun) {
    this.frames.push(performance.now() - begun);
    if (this.frames.length > 240) this.frames.shift();
  }

  paint() {
    const begun = performance.now();
    const context = this.node.getContext('2d');
    const ratio = devicePixelRatio || 1;
    const { paper } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = paper.paper;
    context.fillRect(0, 0, this.node.width, this.node.height);
    const { x, y, scale } = this.view;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    const seen = [-x / scale, -y / scale, (this.size.width - x) / scale, (this.size.height - y) / scale];
    const isSeen = ([left, top, wide, high]) => left < seen[2] && top < seen[3] && left + wide > seen[0] && top + high > seen[1];
    const shapes = this.picture.shapes.filter((shape) => isSeen(shape.place));
    shapes.filter((shape) => shape.open).forEach((shape) => this.box(context, shape, scale));
    this.lines(context, isSeen, scale);
    shapes.filter((shape) => !shape.open).forEach((shape) => this.box(context, shape, scale));
    if (scale > 0.7) this.words(context, isSeen);
    this.lastCost = performance.now() - begun;
    this.note(begun);
    if (this.lastCost >= SLOW) {
      this.frame.width = this.node.width;
      this.frame.height = this.node.height;
      this.frame.getContext('2d').drawImage(this.node, 0, 0);
      this.frameView = { ...this.view };
    } else this.frameView = null;
  }

  lines(context, isSeen, scale) {
    const { links, strokes } = this.picture;
    const strong = new Set();
    this.marked.links.forEach((at) => links[at].way.forEach((step) => strong.add(step)));
    const isDimmed = this.marked.shapes !== null || strong.size > 0;
    // Where everything is tied to everything, lines say little until a box is chosen.
    const isDense = links.length > 4 * this.picture.shapes.length;
    for (const [isRuntime, dash] of [[0, []], [1, [5, 4]]]) {
      const all = new Path2D();
      const tips = new Path2D();
      strokes.forEach((stroke, at) => {
        if (stroke[8] !== isRuntime || strong.has(at) || !isSeen(this.boxes[at])) return;
        all.addPath(this.paths[at].line);
        if (scale > 0.2) tips.addPath(this.paths[at].tip);
      });
      context.setLineDash(scale > 0.25 ? dash : []);
      context.lineWidth = Math.max(1.2, 0.6 / scale);
      context.globalAlpha = isDimmed ? 0.25 : isDense ? 0.35 : scale < 0.3 ? 0.55 : 1;
      context.strokeStyle = context.fillStyle = this.paper.line;
      context.stroke(all);
      context.fill(tips);
    }
    context.globalAlpha = 1;
    context.strokeStyle = context.fillStyle = this.paper.strong;
    strong.forEach((at) => {
      context.setLineDash(strokes[at][8] ? [5, 4] : []);
      context.lineWidth = Math.max(2, 1.2 / scale);
      context.stroke(this.paths[at].line);
      context.fill(this.paths[at].tip);
    });
    context.setLineDash([]);
  }

  box(context, shape, scale) {
    const [x, y, wide, high] = shape.place;
    const [rim, ...shades] = this.hue(shape.hue);
    const isDimmed = this.marked.shapes && !this.marked.shapes.has(shape.id);
    context.globalAlpha = isDimmed ? 0.25 : shape.disabled ? 0.6 : 1;
    const isMarked = this.marked.node === shape.id;
    if (scale < 0.12 && !shape.open) {
      context.fillStyle = shape.broken ? this.paper.wrong : rim;
      context.fillRect(x, y, wide, high);
      context.globalAlpha = 1;
      return;
    }
    context.beginPath();
    context.roundRect(x, y, wide, high, shape.group ? 5 : 9);
    const before = context.globalAlpha;
    if (shape.open) context.globalAlpha *= 0.35;
    context.fillStyle = shape.open ? shades[0] : shades[shape.shade] || shades[0];
    context.fill();
    context.globalAlpha = before;
    context.setLineDash(shape.disabled || shape.removed ? [4, 3] : []);
    context.lineWidth = isMarked ? 3 : shape.broken || shape.changed ? 2.6 : 1.2;
    context.strokeStyle = isMarked ? this.paper.strong : shape.broken ? this.paper.wrong : rim;
    context.stroke();
    context.setLineDash([]);
    if (shape.contents && !shape.open) {
      context.lineWidth = 1.2;
      context.beginPath();
      context.moveTo(x + 8, y + high + 3);
      context.lineTo(x + wide - 8, y + high + 3);
      context.stroke();
    }
    if (scale > 0.28) {
      context.save();
      context.beginPath();
      context.rect(x, y, wide - 6, Math.min(high, 42));
      context.clip();
      context.font = BOLD;
      context.fillStyle = this.paper.ink;
      context.fillText(shape.label, x + 12, y + 18, wide - 20);
      if (scale > 0.45) {
        context.font = PLAIN;
        context.fillStyle = this.paper.pale;
        context.fillText(shape.subtitle, x + 12, y + 33, wide - 20);
      }
      context.restore();
      if (shape.mark && scale > 0.4) {
        context.font = '600 10px system-ui, sans-serif';
        context.textAlign = 'right';
        context.fillStyle = shape.broken ? this.paper.wrong : this.paper.pale;
        context.fillText(shape.mark, x + wide - 9, y + 17);
        context.textAlign = 'left';
      }
    } else if (scale > 0.02 && shape.open && wide * scale > 60) {
      // The names of what is large are read from afar.
      context.font = '600 ' + Math.min(11 / scale, 30) + 'px system-ui, sans-serif';
      context.fillStyle = this.paper.ink;
      context.fillText(shape.label, x + 12, y + 30);
    }
    context.globalAlpha = 1;
  }

  words(context, isSeen) {
    const { links, strokes, shapes } = this.picture;
    context.font = LINE_WORDS;
    context.textAlign = 'center';
    const taken = [];
    links.forEach((link, at) => {
      if (!link.words) return;
      const isStrong = this.marked.links.has(at);
      if (this.marked.shapes && !isStrong) return;
      const step = link.way.find((one) => isSeen(this.boxes[one]));
      if (step === undefined) return;
      const point = middle(strokes[step]);
      const wide = context.measureText(link.words).width + 6;
      const room = [point.x - wide / 2, point.y - 6, wide, 12];
      const meets = (other) => room[0] < other[0] + other[2] && other[0] < room[0] + wide && room[1] < other[1] + other[3] && other[1] < room[1] + 12;
      if (taken.some(meets)) return;
      if (shapes.some((shape) => meets([shape.place[0], shape.place[1], shape.place[2], shape.open ? 42 : shape.place[3]]))) return;
      taken.push(room);
      context.lineWidth = 3;
      context.lineJoin = 'round';
      context.strokeStyle = this.paper.paper;
      context.strokeText(link.words, point.x, point.y + 3);
      context.fillStyle = isStrong ? this.paper.strong : this.paper.pale;
      context.fillText(link.words, point.x, point.y + 3);
    });
    context.textAlign = 'left';
  }

  at(point) {
    const x = (point.x - this.view.x) / this.view.scale;
    const y = (point.y - this.view.y) / this.view.scale;
    const isIn = ([left, top, wide, high]) => x >= left && y >= top && x <= left + wide && y <= top + high;
    for (let at = this.picture.shapes.length - 1; at >= 0; at--) {
      const shape = this.picture.shapes[at];
      if (isIn(shape.place)) return shape;
    }
    return null;
  }

  listen() {
    const { node } = this;
    const place = (event) => {
      const box = node.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    node.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || Math.abs(event.deltaY) >= 40 && event.deltaX === 0) {
        this.zoom(Math.exp(-event.deltaY * 0.0022), place(event));
      } else {
        this.view.x -= event.deltaX;
        this.view.y -= event.deltaY;
        this.move();
      }
    }, { passive: false });
    let travelled = 0;
    node.addEventListener('pointerdown', (event) => {
      this.pointers.set(event.pointerId, place(event));
      node.setPointerCapture(event.pointerId);
      travelled = 0;
    });
    node.addEventListener('pointermove', (event) => {
      const last = this.pointers.get(event.pointerId);
      const now = place(event);
      if (!last) {
        node.classList.toggle('is-over', this.at(now) !== null);
        return;
      }
      if (this.pointers.size === 2) {
        const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
        const far = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
        this.zoom(far(now, other) / Math.max(1, far(last, other)), other);
      } else {
        this.view.x += now.x - last.x;
        this.view.y += now.y - last.y;
        this.move();
      }
      travelled += Math.hypot(now.x - last.x, now.y - last.y);
      this.pointers.set(event.pointerId, now);
    });
    const up = (event) => {
      const known = this.pointers.delete(event.pointerId);
      if (known && travelled < 5 && event.type === 'pointerup') this.onpick(this.at(place(event)));
    };
    node.addEventListener('pointerup', up);
    node.addEventListener('pointercancel', up);
    node.addEventListener('dblclick', (event) => {
      const shape = this.at(place(event));
      if (shape?.contents) this.onopen(shape);
    });
  }
}

function strokePath([sx, sy, tx, ty, ex, ey, fx, fy, , tips, isVertical]) {
  const line = new Path2D();
  line.moveTo(sx, sy);
  line.lineTo(tx, ty);
  const pull = (from, to) => Math.max(Math.abs(to - from) / 2, 12) * Math.sign(to - from);
  if (isVertical) line.bezierCurveTo(tx, ty + pull(ty, ey), ex, ey - pull(ty, ey), ex, ey);
  else line.bezierCurveTo(tx + pull(tx, ex), ty, ex - pull(tx, ex), ey, ex, ey);
  line.lineTo(fx, fy);
  const tip = new Path2D();
  const arrow = (x, y, fromX, fromY) => {
    tip.moveTo(x, y);
    const back = isVertical ? Math.sign(fromY - y) * 8 : Math.sign(fromX - x) * 8;
    if (isVertical) { tip.lineTo(x - 3.6, y + back); tip.lineTo(x + 3.6, y + back); }
    else { tip.lineTo(x + back, y - 3.6); tip.lineTo(x + back, y + 3.6); }
    tip.closePath();
  };
  if (tips & 1) arrow(fx, fy, tx, ty);
  if (tips & 2) arrow(sx, sy, ex, ey);
  return { line, tip };
}

function strokeBox(stroke) {
  const xs = [stroke[0], stroke[2], stroke[4], stroke[6]];
  const ys = [stroke[1], stroke[3], stroke[5], stroke[7]];
  const [left, top] = [Math.min(...xs) - 4, Math.min(...ys) - 4];
  return [left, top, Math.max(...xs) - left + 4, Math.max(...ys) - top + 4];
}

function middle([, , tx, ty, ex, ey]) {
  return { x: (tx + ex) / 2, y: (ty + ey) / 2 };
}
