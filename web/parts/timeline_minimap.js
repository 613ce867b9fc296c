/* timeline_minimap.js - the whole job in small, and the part of it that is in view: a frame to drag. */

import { h, penOf } from '../dom.js';
import { densities, TALL, tileOfDensity } from './timeline_density.js';
import { WHEEL } from './timeline_hands.js';

const HIGH = 40,
    LEAST = 6; /* px */

/** @param {ReturnType<import('./timeline_stage.js').timelineStage>} stage */
export function minimap(stage) {
    const canvas = h('canvas', {
            class: 'tl-mini',
            role: 'img',
            'aria-label': 'The whole job; drag to move through it',
        }),
        pen = penOf(canvas, { alpha: false }),
        bitmaps = densities();
    let tile = null,
        /** @type {import('./timeline_tree.js').Chunk} */ chunk = /** @type {any} */ (null),
        end = 1,
        drag = null;

    /** @param {Object} answer  of timeline/density for the job */
    function update(answer, root, ticks) {
        chunk = { key: 'job', lanes: [{ ...root, at: 0, id: 'job' }] };
        tile = tileOfDensity(answer, { kind: 'density', chunk, r: answer.resolution, index: 0 });
        bitmaps.learn(tile, chunk);
        end = ticks;
        draw();
    }

    function draw() {
        const { view } = stage,
            ratio = window.devicePixelRatio,
            width = Math.round(canvas.clientWidth * ratio),
            height = HIGH * ratio;
        if (!tile || !view || width === 0) return;
        if (canvas.width !== width || canvas.height !== height) {
            canvas.width = width;
            canvas.height = height;
        }
        const frame = stage.frame,
            x = (view.from / end) * width,
            size = Math.max(LEAST * ratio, ((view.to - view.from) / end) * width);
        pen.fillStyle = frame.paper;
        pen.fillRect(0, 0, width, height);
        pen.drawImage(
            bitmaps.bitmapOf(tile, chunk, stage.palette()),
            0,
            0,
            end / tile.r,
            TALL,
            0,
            2 * ratio,
            width,
            height - 4 * ratio,
        );
        pen.fillStyle = frame.selection;
        pen.fillRect(x, 0, size, height);
        pen.strokeStyle = frame.accent;
        pen.lineWidth = 2 * ratio;
        pen.strokeRect(x + ratio, ratio, size - 2 * ratio, height - 2 * ratio);
    }

    const timeAt = (event) => {
        const box = canvas.getBoundingClientRect();
        return ((event.clientX - box.left) / box.width) * end;
    };

    canvas.addEventListener('pointerdown', (event) => {
        const { from, to } = stage.goal,
            time = timeAt(event);
        canvas.setPointerCapture(event.pointerId);
        if (time < from || time > to) stage.pan(time - (from + to) / 2);
        drag = time;
    });
    canvas.addEventListener('pointermove', (event) => {
        if (drag === null) return;
        const time = timeAt(event);
        stage.pan(time - drag, true);
        drag = time;
    });
    for (const name of ['pointerup', 'pointercancel'])
        canvas.addEventListener(name, () => {
            drag = null;
        });
    canvas.addEventListener(
        'wheel',
        (event) => {
            event.preventDefault();
            stage.zoom(Math.exp(event.deltaY * WHEEL), timeAt(event));
        },
        { passive: false },
    );

    return { element: canvas, update, draw };
}
