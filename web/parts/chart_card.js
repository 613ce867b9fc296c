/* chart_card.js - a card with one chart: its choices, its legend, waiting and errors, and export. */

import { fill, h, refill } from '../dom.js';
import { go, here } from '../state.js';
import { latestRequest } from './latest_request.js';
import { copyMenu } from './copy.js';
import { empty } from './notice.js';
import { pictureWithWords } from './picture.js';
import { plot } from './plot.js';
import { segmented } from './segmented.js';

/**
 * @typedef {Object} ChartView
 * @property {string} what  is computed, for whoever waits
 * @property {string} path  of the call
 * @property {Object} parameters
 * @property {{path: string, parameters: Object}} [exported]  the call to export, where it is another one
 * @property {any} [besides]  what else the answer depends on
 * @property {(signal: AbortSignal) => Promise<any>} load  asks the call; called again only when path, parameters or
 *   besides changed
 * @property {(answer: any) => Object|null} draw  what the chart is given; null: there is nothing to show
 * @property {any} [drawnOf]  what the chart and its note depend on besides the answer; where it is said, the same is
 *   not worked out again
 * @property {string} file  name of what is saved, without its ending
 * @property {any} [tools]  choices in the head
 * @property {any} [above]  what stands between head and chart, such as a legend
 * @property {any|((answer: any) => any)} [note]  under the head
 * @property {any} [nothing]  why there is nothing
 */

/**
 * @param {{name: string, title: string, kind: import('./plot.js').Kind, height?: number}} options  name: in the
 *   URL's list of charts that are shown as tables
 */
export function chartCard({ name, title, kind, height = 260 }) {
    const head = h('div', { class: 'card-tools' }),
        note = h('small', { class: 'chart-note' }) /* a line of its own: no control of the head moves when it comes */,
        heading = h('h2', {}, title);
    const above = h('div', { hidden: true }),
        box = h('div', { class: 'chart-box' });
    const picture = plot(kind);
    const element = h(
        'section',
        { class: 'card', 'aria-label': title },
        h('header', { class: 'card-head' }, heading, head),
        note,
        above,
        box,
    );
    const computing = latestRequest(box);
    let drawn = { answer: null, of: '' };

    /** @param {ChartView} view */
    function update(view) {
        const asTable = tablesOf(here()).includes(name);
        refill(
            head,
            view.tools,
            segmented(
                'Show as',
                [
                    ['chart', 'Chart'],
                    ['table', 'Table'],
                ],
                asTable ? 'table' : 'chart',
                () => go({ as: toggleTable(name) }),
            ),
            copyMenu(
                view.exported?.path ?? view.path,
                view.exported?.parameters ?? view.parameters,
                view.file,
                asTable ? [] : [{ text: 'Save as PNG', action: () => savePng(view.file) }],
            ),
        );
        note.hidden = !view.note;
        above.hidden = !view.above;
        refill(above, view.above);
        computing.send({
            request: [view.path, view.parameters, view.besides],
            what: view.what,
            path: view.path,
            height,
            load: view.load,
            show: (answer) => show(answer, view, asTable),
        });
    }

    function show(answer, view, asTable) {
        const of = view.drawnOf === undefined ? '' : JSON.stringify([view.drawnOf, asTable]);
        if (of && answer === drawn.answer && of === drawn.of && picture.element.parentElement === box) return;
        drawn = { answer, of };
        const data = view.draw(answer);
        fill(note, typeof view.note === 'function' ? view.note(answer) : view.note);
        if (!data) {
            fill(
                box,
                view.nothing ?? empty('No events here', h('p', {}, 'No event in this time range passes the filter.')),
            );
            return;
        }
        if (picture.element.parentElement !== box) fill(box, picture.element);
        picture.update(data, asTable);
    }

    function savePng(file) {
        const address = picture.png();
        if (!address) return;
        const shown = [...above.querySelectorAll('.legend-item[aria-pressed="true"]')].map((item) => ({
            words: item.textContent,
            color: getComputedStyle(item).getPropertyValue('--color'),
        }));
        pictureWithWords(
            address,
            `${document.title.split(' \u00b7 ')[0]}: ${heading.textContent}`,
            note.textContent,
            shown,
        ).then((whole) => h('a', { href: whole, download: `${file}.png` }).click());
    }

    return {
        element,
        update,
        close() {
            computing.close();
            picture.close();
        },
    };
}

/** The charts that a place shows as tables. */
function tablesOf(place) {
    return (place.as ?? '').split(',').filter(Boolean);
}

function toggleTable(name) {
    const now = tablesOf(here()),
        left = now.filter((one) => one !== name);
    return (left.length < now.length ? left : [...now, name]).join(',');
}
