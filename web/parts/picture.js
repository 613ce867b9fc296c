/* picture.js - a chart as a picture that stands by itself: with its trace, title, note and legend above it. */

import { penOf } from '../dom.js';
import { resolved } from './palette.js';

const SCALE = 2,
    MARGIN = 16,
    LINE = 20;

/**
 * @param {string} address  of the chart's pixels, twice as many as on screen
 * @param {string} title
 * @param {string} note
 * @param {{words: string, color: string}[]} legend
 * @returns {Promise<string>} address of the whole
 */
export async function pictureWithWords(address, title, note, legend) {
    const chart = new Image();
    chart.src = address;
    await chart.decode();
    const canvas = document.createElement('canvas');
    const pen = penOf(canvas);
    const width = chart.width / SCALE,
        lines = linesOf(pen, legend, width - 2 * MARGIN);
    const top = MARGIN + LINE * (2 + lines.length);
    canvas.width = chart.width;
    canvas.height = chart.height + top * SCALE;
    pen.scale(SCALE, SCALE);
    pen.fillStyle = resolved('var(--paper)');
    pen.fillRect(0, 0, width, canvas.height);
    pen.textBaseline = 'middle';
    write(pen, '600 14px system-ui, sans-serif', 'var(--ink)', title, MARGIN, MARGIN + LINE / 2);
    write(pen, FONT, 'var(--ink-2)', note, MARGIN, MARGIN + LINE * 1.5);
    for (const [at, line] of lines.entries())
        for (const { words, color, x } of line) {
            const y = MARGIN + LINE * (2.5 + at);
            pen.fillStyle = resolved(color);
            pen.fillRect(MARGIN + x, y - 5, 10, 10);
            write(pen, FONT, 'var(--ink)', words, MARGIN + x + 16, y);
        }
    pen.drawImage(chart, 0, top, width, chart.height / SCALE);
    return canvas.toDataURL();
}

const FONT = '12px system-ui, sans-serif';

function write(pen, font, color, words, x, y) {
    pen.font = font;
    pen.fillStyle = resolved(color);
    pen.fillText(words, x, y);
}

/** The legend, broken where the picture ends. */
function linesOf(pen, legend, width) {
    const lines = /** @type {any[][]} */ ([]);
    let x = Infinity;
    pen.font = FONT;
    for (const item of legend) {
        const wide = pen.measureText(item.words).width + 40;
        if (x + wide > width) {
            lines.push([]);
            x = 0;
        }
        lines[lines.length - 1].push({ ...item, x });
        x += wide;
    }
    return lines;
}
