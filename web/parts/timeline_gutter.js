/* timeline_gutter.js - the name of a lane, with what can be done to it. */

import { h, icon, setStyle } from '../dom.js';
import { grouped, plural, text } from '../format.js';

const KINDS = { host: 'Host', rank_group: 'Rank with its workers', process: 'Process', thread: 'Thread' };

/**
 * What a lane is called beside its picture; a pinned one stands alone.
 * @param {import('./timeline_tree.js').Lane} lane
 */
export function wordsOfLine({ level, label, pid, tid, words }, fixed) {
    if (words) return words;
    if (level !== 'host' && pid === null) return level === 'thread' && tid !== null ? `thread ${tid}` : 'no process';
    if (level === 'thread') return `${fixed ? `${pid} ` : ''}${tid === pid ? 'main thread' : `thread ${label}`}`;
    return level === 'process' ? `process ${label}` : label;
}

/**
 * @param {import('./timeline_tree.js').Line} line
 * @param {boolean} fixed
 * @param {{onFold: (id: string) => void, onPin: (id: string) => void, onHide: (id: string) => void, pinned?:
 *   string[]}} actions
 */
export function gutterLine({ lane, indent, height, foldable, open }, fixed, { onFold, onPin, onHide, pinned = [] }) {
    const shown = wordsOfLine(lane, fixed),
        isPinned = fixed || pinned.includes(lane.id);
    const about = `${KINDS[lane.level]} ${lane.label}${lane.pid !== null && lane.level === 'thread' ? ` of process ${lane.pid}` : ''}: ${grouped(lane.events)} events, busy ${text(lane.busy, 's')}${lane.threads > 1 ? `, ${plural(lane.threads, 'thread')}` : ''}`;
    const element = h(
        'div',
        { class: `tl-name ${lane.level}`, title: about, data: { lane: lane.id } },
        foldable && !fixed
            ? h(
                  'button',
                  { type: 'button', class: 'tl-fold', 'aria-expanded': String(open), onclick: () => onFold(lane.id) },
                  icon('open'),
                  h('span', {}, narrow(shown)),
              )
            : h('span', { class: 'tl-plain' }, narrow(shown)),
        h(
            'span',
            { class: 'tl-tools' },
            h(
                'button',
                {
                    type: 'button',
                    'aria-pressed': String(isPinned),
                    'aria-label': `Pin ${shown}`,
                    title: isPinned ? 'Unpin' : 'Pin to the top',
                    onclick: () => onPin(lane.id),
                },
                icon(isPinned ? 'close' : 'up'),
            ),
            !fixed &&
                h(
                    'button',
                    { type: 'button', 'aria-label': `Hide ${shown}`, title: 'Hide', onclick: () => onHide(lane.id) },
                    icon('close'),
                ),
        ),
    );
    setStyle(element, { height: `${height}px`, '--indent': indent });
    return element;
}

/** Where the gutter is narrow, only the last word of a label is shown. */
function narrow(words) {
    const at = words.endsWith('main thread') ? 0 : words.lastIndexOf(' ') + 1;
    return [h('span', { class: 'tl-kind' }, words.slice(0, at)), words.slice(at)];
}
