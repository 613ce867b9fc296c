/* flame.js - a flame graph on a canvas: calls over each other, each as wide as the time it took. */

import { fill, h, penOf, setStyle } from '../dom.js';
import { grouped, text } from '../format.js';
import { frameAt, framesOf } from './flame_layout.js';
import { onTheme } from './palette.js';

const ROW = 20,
    LEAST = 0.0004,
    LABEL = 32,
    TWICE = 350; /* px; of the whole; px; ms */
const FONT = '11px ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace';

/**
 * @typedef {Object} FlameView
 * @property {import('./flame_layout.js').CallNode} root  what it is drawn from
 * @property {(node: import('./flame_layout.js').CallNode) => {fill: string, ink: string}} color
 * @property {string} label  for screen readers
 * @property {boolean} [upwards]  the root at the bottom
 * @property {import('./flame_layout.js').CallNode|null} [chosen]
 * @property {(node: import('./flame_layout.js').CallNode, whole: number) => any} [words]  of a frame; its figures
 *   when left out
 */

/**
 * @param {{onPick: (node: import('./flame_layout.js').CallNode) => void, onRoot: (node:
 *   import('./flame_layout.js').CallNode) => void}} options
 */
export function flame({ onPick, onRoot }) {
    const canvas = h('canvas', { class: 'flame-canvas', role: 'img' }),
        pen = penOf(canvas, { alpha: false }),
        card = h('div', { class: 'chart-bubble tl-card', hidden: true });
    const element = h('div', { class: 'flame' }, canvas, card),
        widths = new Map();
    /** @type {FlameView} */
    let view = /** @type {any} */ (null);
    /** @type {import('./flame_layout.js').Frame[]} */
    let frames = [];
    let rows = 0,
        hover = null,
        last = { time: 0, node: /** @type {any} */ (null) };
    const resize = new ResizeObserver(() => draw()),
        stop = onTheme(() => draw());
    resize.observe(element);

    /** @param {FlameView} next */
    function update(next) {
        view = next;
        frames = framesOf(view.root, LEAST);
        rows = Math.max(...frames.map(({ depth }) => depth)) + 1;
        setStyle(canvas, { height: `${rows * ROW}px` });
        canvas.setAttribute('aria-label', view.label);
        draw();
    }

    const rowOf = (depth) => (view.upwards ? rows - 1 - depth : depth);

    function draw() {
        const width = element.clientWidth,
            ratio = window.devicePixelRatio;
        if (!view || width === 0) return;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(rows * ROW * ratio);
        const style = getComputedStyle(element);
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.fillStyle = style.backgroundColor;
        pen.fillRect(0, 0, width, rows * ROW);
        pen.font = FONT;
        pen.textBaseline = 'middle';
        for (const frame of frames) {
            const { fill: paper, ink } = view.color(frame.node),
                x = frame.x * width,
                y = rowOf(frame.depth) * ROW,
                wide = Math.max(1, frame.width * width - 1);
            pen.fillStyle = paper;
            pen.fillRect(x, y, wide, ROW - 1);
            if (wide >= LABEL) named(frame.node, x, y, wide, ink);
            if (frame === hover || frame.node === view.chosen) {
                pen.strokeStyle = style.color;
                pen.lineWidth = 2;
                pen.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), ROW - 3);
            }
        }
    }

    function named(node, x, y, wide, ink) {
        const words = nameOf(node);
        if (!widths.has(words)) widths.set(words, pen.measureText(words).width);
        const size = widths.get(words),
            signs = Math.floor((wide - 8) / (size / words.length)) - 1;
        if (size > wide - 8 && signs < 2) return;
        pen.fillStyle = ink;
        pen.fillText(size <= wide - 8 ? words : `${words.slice(0, signs)}\u2026`, x + 4, y + ROW / 2);
    }

    function under(event) {
        const box = canvas.getBoundingClientRect(),
            row = Math.floor((event.clientY - box.top) / ROW);
        return frameAt(frames, (event.clientX - box.left) / box.width, view.upwards ? rows - 1 - row : row);
    }

    canvas.addEventListener('pointermove', (event) => {
        const frame = view && under(event),
            box = element.getBoundingClientRect();
        if (frame !== hover) {
            hover = frame;
            draw();
        }
        card.hidden = !frame;
        if (!frame) return;
        fill(card, h('div', { class: 'chart-tip' }, (view.words ?? frameWords)(frame.node, view.root.total)));
        const x = Math.min(event.clientX - box.left + 16, Math.max(0, box.width - card.offsetWidth)),
            y = event.clientY - box.top + 16;
        setStyle(card, { transform: `translate(${Math.round(x)}px, ${Math.round(y)}px)` });
    });
    canvas.addEventListener('pointerleave', () => {
        hover = null;
        card.hidden = true;
        draw();
    });
    canvas.addEventListener('click', (event) => {
        const frame = view && under(event),
            now = performance.now();
        if (!frame) return;
        const twice = last.node === frame.node && now - last.time < TWICE;
        last = { time: twice ? 0 : now, node: frame.node };
        if (twice) onRoot(frame.node);
        else onPick(frame.node);
    });

    return {
        element,
        canvas,
        update,
        close() {
            resize.disconnect();
            stop();
        },
    };
}

/** What a frame is called. */
export function nameOf(node) {
    return node.kind === 'other' ? 'other' : node.kind === 'root' ? 'all' : (node.label ?? '(no name)');
}

/** A frame's figures. */
function frameWords(node, whole) {
    const row = (label, content) => h('tr', {}, h('th', {}, label), h('td', {}, content));
    return [
        h('strong', { class: 'name' }, nameOf(node)),
        h(
            'table',
            {},
            row(
                'Call time (sum)',
                `${text(node.total, 's')}${whole > 0 ? `, ${text(node.total / whole, 'share')}` : ''}`,
            ),
            node.kind !== 'root' && row('Self time', text(node.self, 's')),
            row('Events', grouped(node.count)),
            node.size > 0 && row('Size', text(node.size, 'B')),
        ),
    ];
}
