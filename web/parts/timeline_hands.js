/* timeline_hands.js - mouse, fingers and keys on the timeline: zoom at the pointer, drag to pan, Shift and drag to
 * select. */

import { RULER } from './timeline_paint.js';

export const WHEEL = 0.0025; /* per px of a wheel */

const FAR = 4,
    LINE_PX = 16; /* px; of a line of a wheel */
const STEP = 0.15,
    ZOOM = 1.35,
    TWICE = 350;

/**
 * @typedef {Object} Actions
 * @property {(box: import('./timeline_boxes.js').Box|null, place: any) => void} pick
 * @property {(box: import('./timeline_boxes.js').Box|null) => void} fit
 * @property {(span: import('./timeline_scale.js').Span|null, lanes: string[]|null, done: boolean) => void} select
 * @property {(at: {x: number, y: number}|null) => void} point
 */

/**
 * @param {ReturnType<import('./timeline_stage.js').timelineStage>} stage
 * @param {Actions} actions
 */
export function timelineHands(stage, { pick, fit, select, point }) {
    const { canvas, scroller } = stage,
        fingers = new Map();
    let drag = null,
        pinch = null,
        pointer = null,
        lastClick = { time: 0, x: 0, y: 0 };

    const where = (event) => {
        const box = canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const length = () => stage.goal.to - stage.goal.from,
        timeAt = (x) => stage.view.from + (x / canvas.clientWidth) * (stage.view.to - stage.view.from);

    canvas.addEventListener('pointerdown', (event) => {
        if (event.button !== 0) return;
        const at = where(event);
        fingers.set(event.pointerId, at);
        canvas.setPointerCapture(event.pointerId);
        canvas.focus({ preventScroll: true });
        if (fingers.size === 2) {
            drag = null;
            pinch = apart();
            return;
        }
        drag = { at, last: at, far: false, selects: event.shiftKey || at.y < RULER, from: timeAt(at.x) };
    });

    canvas.addEventListener('pointermove', (event) => {
        const at = (pointer = where(event));
        if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
        if (pinch && fingers.size === 2) {
            const now = apart();
            stage.zoom(pinch.wide / Math.max(now.wide, 1), timeAt(now.middle), true);
            stage.pan(((pinch.middle - now.middle) / canvas.clientWidth) * length(), true);
            pinch = now;
        } else if (drag) dragged(at);
        else point(at);
    });

    function apart() {
        const [one, two] = [...fingers.values()];
        return { wide: Math.abs(one.x - two.x), middle: (one.x + two.x) / 2 };
    }

    function dragged(at) {
        drag.far ||= Math.hypot(at.x - drag.at.x, at.y - drag.at.y) >= FAR;
        if (!drag.far) return;
        point(null);
        if (drag.selects) {
            selecting(at, false);
            return;
        }
        stage.pan(((drag.last.x - at.x) / canvas.clientWidth) * length(), true);
        scroller.scrollTop += drag.last.y - at.y;
        drag.last = at;
    }

    /** From where the button went down to here; in the ruler all lanes, else those between. */
    function selecting(at, done) {
        const now = timeAt(Math.max(0, Math.min(canvas.clientWidth, at.x))),
            low = Math.min(at.y, drag.at.y),
            high = Math.max(at.y, drag.at.y);
        const lanes =
            drag.at.y < RULER
                ? null
                : stage.sight
                      .filter(({ line, y }) => y <= high && y + line.height > low)
                      .map(({ line }) => line.lane.id);
        select({ from: Math.min(drag.from, now), to: Math.max(drag.from, now) }, lanes, done);
    }

    function up(event) {
        fingers.delete(event.pointerId);
        if (fingers.size < 2) pinch = null;
        const was = drag;
        if (!was || event.type === 'pointercancel') {
            drag = null;
            return;
        }
        const at = where(event);
        if (was.far && was.selects) selecting(at, true);
        drag = null;
        if (was.far) return;
        const now = performance.now(),
            twice = now - lastClick.time < TWICE && Math.hypot(at.x - lastClick.x, at.y - lastClick.y) < FAR;
        lastClick = { time: twice ? 0 : now, ...at };
        const box = stage.boxUnder(at.x, at.y);
        if (twice) fit(box);
        else pick(box, stage.placeAt(at.x, at.y));
    }
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => {
        pointer = null;
        point(null);
    });

    /** With Ctrl, over the ruler, or where there is nothing to scroll it zooms; with Shift it pans. */
    scroller.addEventListener(
        'wheel',
        (event) => {
            const unit = event.deltaMode === 1 ? LINE_PX : 1,
                at = where(event),
                sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
            if (
                event.ctrlKey ||
                event.metaKey ||
                (!event.shiftKey &&
                    !event.deltaX &&
                    (at.y < RULER || scroller.scrollHeight <= scroller.clientHeight + 1))
            )
                stage.zoom(Math.exp(event.deltaY * unit * WHEEL), timeAt(Math.max(0, at.x)));
            else if (sideways) stage.pan(((sideways * unit) / canvas.clientWidth) * length());
            else return;
            event.preventDefault();
        },
        { passive: false },
    );

    /** @returns {boolean} whether the key was one that moves */
    function key(name) {
        const at = pointer ? timeAt(pointer.x) : undefined;
        if (name === 'w') stage.zoom(1 / ZOOM, at);
        else if (name === 's') stage.zoom(ZOOM, at);
        else if (name === 'a') stage.pan(-STEP * length());
        else if (name === 'd') stage.pan(STEP * length());
        else return false;
        return true;
    }

    return {
        key,
        get pointer() {
            return pointer;
        },
    };
}
