// ---- Where names stand ----------------------------------------------------------------------------------------------
// A name goes to the side of its variable where the fewest lines pass, touches no other name, and has the ground behind it,
// so that a line which must pass goes under it.

const cellSize = 5; // pixels of the grid in which lines and shapes are counted
const nameHeight = 14;
const coversShape = 100; // the cost of a place where a name would hide a part of a shape, however small

class NamePlacer {
  constructor(width, height) {
    this.columns = Math.ceil(width / cellSize) + 1;
    this.rows = Math.ceil(height / cellSize) + 1;
    Object.assign(this, { width, height });
    this.cost = new Uint16Array(this.columns * this.rows);
    this.names = new Uint8Array(this.columns * this.rows);
  }

  add(x, y, cost) {
    const column = Math.floor(x / cellSize), row = Math.floor(y / cellSize);
    if (column >= 0 && row >= 0 && column < this.columns && row < this.rows) this.cost[row * this.columns + column] += cost;
  }

  /** A line that bends towards (x, y) half-way, as the canvas draws it. */
  addLine(a, b, [x, y]) {
    const length = Math.hypot(b.sx - a.sx, b.sy - a.sy);
    if (Math.max(a.sx, b.sx) < 0 || Math.max(a.sy, b.sy) < 0 || Math.min(a.sx, b.sx) > this.width || Math.min(a.sy, b.sy) > this.height) return;
    const steps = Math.min(1200, Math.ceil(length / (0.8 * cellSize)));
    for (let step = 1; step < steps; ++step) {
      const t = step / steps, u = 1 - t;
      this.add(u * u * a.sx + 2 * u * t * x + t * t * b.sx, u * u * a.sy + 2 * u * t * y + t * t * b.sy, 2);
    }
  }

  addDisc(x, y, radius) {
    for (let dy = -radius; dy <= radius; dy += cellSize) {
      const half = Math.sqrt(radius * radius - dy * dy);
      for (let dx = -half; dx <= half; dx += cellSize) this.add(x + dx, y + dy, coversShape);
    }
  }

  cells([x0, y0, x1, y1], visit) {
    const left = Math.max(0, Math.floor(x0 / cellSize)), right = Math.min(this.columns - 1, Math.floor(x1 / cellSize));
    const bottom = Math.min(this.rows - 1, Math.floor(y1 / cellSize));
    for (let row = Math.max(0, Math.floor(y0 / cellSize)); row <= bottom; ++row) {
      for (let column = left; column <= right; ++column) visit(row * this.columns + column);
    }
  }

  isFree(box) {
    let free = true;
    this.cells(box, (cell) => (free = free && !this.names[cell]));
    return free;
  }

  take(box) {
    this.cells(box, (cell) => (this.names[cell] = 1));
  }

  /** The best side of a shape at (x, y), as {box, side}; null if names are in the way on all of them, or
      shapes and it need not have one (`must`). `before` is the side it had: names that jump from side to side while one zooms
      cannot be read. */
  place(x, y, radius, width, { before, room = 0, must = false } = {}) {
    const gap = radius + 3, slant = 0.72 * radius + 2, middle = nameHeight / 2;
    const corners = [
      [x - width / 2, y + gap], [x + gap + 2, y - middle], [x - gap - 2 - width, y - middle], [x - width / 2, y - gap - nameHeight],
      [x + slant, y + slant], [x - slant - width, y + slant], [x + slant, y - slant - nameHeight], [x - slant - width, y - slant - nameHeight],
      [x - 0.2 * width, y + gap], [x - 0.8 * width, y + gap], [x - 0.2 * width, y - gap - nameHeight], [x - 0.8 * width, y - gap - nameHeight],
    ];
    let best = null;
    corners.forEach(([left, top], side) => {
      const box = [left, top, left + width, top + nameHeight];
      let cost = 0.4 * side - (side === before ? 3 : 0);
      this.cells(box, (cell) => (cost += this.cost[cell]));
      if (left < 2 || top < 2 || box[2] > this.width - 2 || box[3] > this.height - 2) return; // a name cut by the frame
      if (best && best.cost <= cost) return;
      if (this.isFree([left - room, top - room, box[2] + room, box[3] + room])) best = { box, side, cost };
    });
    return must || best?.cost < coversShape ? best : null;
  }
}
