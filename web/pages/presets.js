/* presets.js - which layers there are: presets are written here, and tried on the trace before they are kept. */

import { get, send, session } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped, plural } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { confirmed, asked } from '../parts/dialog.js';
import { attempt, toast } from '../parts/notice.js';
import { swatch } from '../parts/layers.js';
import { scrolling, table } from '../parts/table.js';
import { tracePage } from '../parts/trace_page.js';
import { go, here, link } from '../state.js';

export const title = 'Presets';

const PAUSE_MS = 400;

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, presetsPicture, { bar: false, ofNone: () => true });
}

function presetsPicture(trace) {
    const choice = h('select', { id: 'preset-choice', onchange: () => go({ edit: choice.value }) }),
        text = /** @type {HTMLTextAreaElement} */ (
            h('textarea', { class: 'preset-text', spellcheck: 'false', 'aria-label': 'YAML of the preset', rows: 28 })
        ),
        buttons = h('div', { class: 'card-tools' }),
        preview = h('div', {}),
        trying = latestRequest(preview);
    const writing = h(
            'section',
            { class: 'card', 'aria-label': 'Preset' },
            h(
                'header',
                { class: 'card-head' },
                h('h2', {}, 'Preset'),
                h('label', { class: 'visually-hidden', for: 'preset-choice' }, 'Preset to look at'),
                choice,
                buttons,
            ),
            text,
        ),
        trial = h(
            'section',
            { class: 'card', 'aria-label': 'Preview' },
            h('header', { class: 'card-head' }, h('h2', {}, 'Preview'), h('small', {}, `on ${trace.name}`)),
            preview,
        );
    let shown = '',
        timer = 0,
        closed = false;
    text.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(tryIt, PAUSE_MS);
    });

    async function update(place) {
        const wanted = place.edit ?? trace.preset.name;
        if (wanted === shown) return;
        shown = wanted;
        await attempt(async () => {
            const [{ presets }, preset, { role }] = await Promise.all([
                get('presets'),
                get(`presets/${encodeURIComponent(wanted)}`),
                session(),
            ]);
            if (closed || wanted !== shown) return;
            fill(
                choice,
                presets.map(({ name, own }) =>
                    h('option', { value: name, selected: name === wanted }, own ? `${name} (own)` : name),
                ),
            );
            fill(buttons, actions(preset, role));
            text.readOnly = role === 'viewer';
            text.value = preset.yaml;
            tryIt();
        });
    }

    function actions(preset, role) {
        return [
            h(
                'a',
                { class: 'button small', href: link({ page: 'overview', preset: preset.name }) },
                'Show the trace by it',
            ),
            role !== 'viewer' && h('button', { class: 'button small', onclick: () => save(preset) }, 'Save as'),
            role !== 'viewer' &&
                preset.own &&
                h('button', { class: 'button small danger', onclick: () => remove(preset.name) }, 'Delete'),
        ];
    }

    function tryIt() {
        const yaml = text.value,
            path = `traces/${trace.id}/presets/preview`;
        trying.send({
            request: yaml,
            what: 'Trying the preset on the trace',
            path,
            height: 360,
            load: (signal) => send('POST', path, { yaml }, signal),
            show: (answer) => fill(preview, answer.mistakes?.length ? mistakesOf(answer) : countsOf(answer)),
        });
    }

    async function save(preset) {
        const { name } = (await asked({
            title: 'Save the preset',
            action: 'Save',
            fields: [
                {
                    name: 'name',
                    label: 'Name',
                    value: preset.own ? preset.name : '',
                    hint: 'small letters, digits and _; the name of a built-in one overrides it',
                    required: true,
                },
            ],
        })) ?? { name: null };
        if (!name) return;
        await attempt(async () => {
            await send('PUT', `presets/${encodeURIComponent(name)}`, { yaml: text.value });
            toast(`Saved as ${name}`);
            shown = '';
            go({ edit: name });
            update(here());
        });
    }

    async function remove(name) {
        const words = h('p', {}, 'A built-in preset of this name is in force again.');
        if (!(await confirmed({ title: `Delete the preset ${name}?`, body: words, action: 'Delete' }))) return;
        await attempt(async () => {
            await send('DELETE', `presets/${encodeURIComponent(name)}`);
            shown = '';
            go({ edit: null });
            update(here());
        });
    }

    return {
        boxes: [h('div', { class: 'preset-pair' }, writing, trial)],
        update,
        close() {
            closed = true;
            clearTimeout(timer);
            trying.close();
        },
    };
}

function mistakesOf({ mistakes }) {
    return h(
        'ul',
        { class: 'preset-mistakes', role: 'alert' },
        mistakes.map(({ line, pointer, text: words }) =>
            h('li', {}, h('strong', {}, `Line ${line}`), pointer && h('code', {}, pointer), ` ${words}`),
        ),
    );
}

function countsOf({ layers, events, filtered, unmatched, multiple, unmatched_functions: functions }) {
    const rows = layers.map((layer, at) => ({ ...layer, color: layer.color ?? `var(--layer-${(at % 12) + 1})` }));
    return [
        h(
            'p',
            {},
            `Of ${plural(events, 'event')} ${grouped(filtered)} are dropped by filters, ${grouped(unmatched)} are in no layer, ${grouped(multiple)} in more than one.`,
        ),
        presetTable({
            caption: 'Events of each layer',
            rows,
            columns: [
                {
                    key: 'name',
                    label: 'Layer',
                    class: 'head',
                    cell: (row) => [swatch(row), ' ', row.label ?? row.name],
                },
                { key: 'parent', label: 'Inside', cell: (row) => row.parent ?? '' },
                { key: 'count', label: 'Events', unit: 'count' },
            ],
        }),
        functions?.length > 0 && h('h3', {}, 'Functions that no layer takes'),
        functions?.length > 0 &&
            presetTable({
                caption: 'Functions that no layer takes',
                rows: functions,
                columns: [
                    { key: 'func_name', label: 'Function', class: 'head' },
                    { key: 'count', label: 'Events', unit: 'count' },
                ],
            }),
    ];
}

function presetTable(view) {
    return scrolling(view.caption, table({ ...view, class: 'preset-table' }));
}
