/* painted.js - what a chart has thousands of: rectangles, painted on a canvas that ECharts shows as one picture.
 *
 * An element for each of them takes ECharts ten times as long as to paint it, and a browser takes long to fill an area
 * whose edge goes up and down at every pixel, while rectangles between whole pixels cost next to nothing. */

import { penOf } from '../dom.js';
import { resolved } from './palette.js';

/**
 * @typedef {Object} Ground  where to paint, in pixels of the device from the upper left corner of the axes
 * @property {number} width
 * @property {number} height
 * @property {(value: number) => number} x  where a number is; categories share width or height equally
 * @property {(value: number) => number} y
 */

/**
 * A series over both axes, which must not be logarithmic.
 * @param {number[]} corner  a place that the axes hold anyway
 * @param {(pen: CanvasRenderingContext2D, ground: Ground) => void} paint
 */
export function painted(corner, paint) {
    return {
        type: 'custom',
        zlevel: 0,
        silent: true,
        clip: true,
        data: [corner],
        renderItem: ({ coordSys }, api) => picture(coordSys, api, paint),
    };
}

function picture({ x: left, y: top, width, height }, api, paint) {
    const ratio = window.devicePixelRatio,
        canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const [x0, y0] = api.coord([0, 0]),
        [x1, y1] = api.coord([1, 1]);
    paint(penOf(canvas), {
        width: canvas.width,
        height: canvas.height,
        x: (value) => (x0 - left + (x1 - x0) * value) * ratio,
        y: (value) => (y0 - top + (y1 - y0) * value) * ratio,
    });
    return { type: 'image', style: { image: canvas, x: left, y: top, width, height } };
}

const STRIPE = 7; /* px from one stripe to the next */

/** What a layer is filled with: its colour, or stripes of it. */
export function inkOf(pen, layer) {
    const color = resolved(layer.color);
    if (!layer.hatched) return color;
    const tile = penOf(document.createElement('canvas'));
    tile.canvas.width = tile.canvas.height = STRIPE;
    tile.fillStyle = color;
    tile.fillRect(0, 0, STRIPE, STRIPE);
    tile.strokeStyle = resolved(`color-mix(in oklab, ${layer.color}, var(--paper) 50%)`);
    tile.lineWidth = 1.2;
    for (const shift of [-STRIPE, 0, STRIPE]) {
        tile.moveTo(shift - 1, STRIPE + 1);
        tile.lineTo(shift + STRIPE + 1, -1);
    }
    tile.stroke();
    return pen.createPattern(tile.canvas, 'repeat');
}
