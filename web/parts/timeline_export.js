/* timeline_export.js - the window as files: for Perfetto, for flame graphs, and as a picture with title and legend. */

import { getForText, url } from '../api.js';
import { h, penOf } from '../dom.js';
import { range } from '../format.js';
import { copyText, curlOf, saveText } from './copy.js';
import { menu } from './menu.js';
import { attempt } from './notice.js';
import { resolved } from './palette.js';
import { wordsOfLine } from './timeline_gutter.js';
import { RULER } from './timeline_paint.js';

const NAMES = 200,
    HEAD = 36,
    FOOT = 28,
    SHARP = 2; /* px; pixels of a picture in one */

/**
 * @param {{trace: Object, stage: ReturnType<import('./timeline_stage.js').timelineStage>, window: () => Object,
 *   legend: () => import('./layers.js').Layer[], span: () => [number, number]}} about
 */
export function exportMenu({ trace, stage, window, legend, span }) {
    const events = `traces/${trace.id}/events`,
        calls = `traces/${trace.id}/calltree`,
        name = `${trace.name}-timeline`,
        asked = window();
    return menu({
        label: 'Copy or save',
        text: 'Export',
        icon: 'copy',
        items: [
            {
                text: 'Copy as curl',
                action: () =>
                    copyText(
                        curlOf(`traces/${trace.id}/timeline/events`, { ...asked, width: stage.canvas.clientWidth }),
                        'as curl',
                    ),
            },
            {
                text: 'Save as Chrome trace',
                action: () =>
                    attempt(async () =>
                        saveText(
                            await getForText(events, { ...asked, format: 'chrome' }),
                            `${name}.json`,
                            'application/json',
                        ),
                    ),
            },
            {
                text: 'Save folded stacks',
                href: url(calls, { ...asked, format: 'folded' }),
                download: `${name}.folded`,
            },
            {
                text: 'Save for speedscope',
                href: url(calls, { ...asked, format: 'speedscope' }),
                download: `${name}.speedscope.json`,
            },
            {
                text: 'Save as PNG',
                action: () =>
                    h('a', { href: pictureOf(trace, stage, legend(), span()), download: `${name}.png` }).click(),
            },
        ],
    });
}

/** What is in sight, with the names of its lanes. */
function pictureOf(trace, stage, layers, [from, to]) {
    const { clientWidth: width } = stage.canvas,
        height = stage.scroller.clientHeight,
        part = document.createElement('canvas'),
        whole = document.createElement('canvas');
    part.width = width * SHARP;
    part.height = height * SHARP;
    stage.paintInto(penOf(part, { alpha: false }), SHARP);
    whole.width = (NAMES + width) * SHARP;
    whole.height = (HEAD + height + FOOT) * SHARP;
    const pen = penOf(whole, { alpha: false }),
        { frame } = stage;
    pen.scale(SHARP, SHARP);
    pen.fillStyle = frame.paper;
    pen.fillRect(0, 0, NAMES + width, HEAD + height + FOOT);
    pen.textBaseline = 'middle';
    pen.fillStyle = frame.ink;
    pen.font = '600 14px system-ui, sans-serif';
    pen.fillText(`${trace.name}: ${range(from, to, 10 ** Math.floor(Math.log10((to - from) / 100)))}`, 8, HEAD / 2);
    pen.save();
    pen.beginPath();
    pen.rect(0, HEAD + RULER, NAMES - 8, height - RULER);
    pen.clip();
    pen.font = '12px system-ui, sans-serif';
    for (const { line, y, pinned } of stage.sight)
        pen.fillText(wordsOfLine(line.lane, pinned), 8 + line.indent * 12, HEAD + y + 13);
    pen.restore();
    pen.drawImage(part, NAMES, HEAD, width, height);
    let x = 8;
    for (const { name, color } of layers) {
        pen.fillStyle = resolved(color);
        pen.fillRect(x, HEAD + height + FOOT / 2 - 6, 12, 12);
        pen.fillStyle = frame.ink;
        pen.fillText(name, x + 18, HEAD + height + FOOT / 2);
        x += 18 + pen.measureText(name).width + 16;
    }
    return whole.toDataURL('image/png');
}
