/* trace_head.js - the line above a trace's pages: which trace it is, the way to others, and reading it again. */

import { get, send, session } from '../api.js';
import { fill, h, icon } from '../dom.js';
import { link, pageLink } from '../state.js';
import { jobProgress } from './job.js';
import { attempt, toast } from './notice.js';

/* The list of traces as it was when somebody last looked: the way to the next trace need not wait for it. */
let known = null,
    asked = null;

/** Asked once by all who want it meanwhile. */
function list() {
    asked ??= get('traces')
        .catch(() => ({ traces: [] }))
        .finally(() => {
            asked = null;
        });
    return asked;
}

/**
 * @param {Object} trace
 * @param {HTMLElement} live  whether it is followed
 * @param {() => void} onRefreshed  the trace was read again
 */
export function traceHead(trace, live, onRefreshed) {
    const ways = h('div', { class: 'ways' }),
        why = h('span', { class: 'why' }),
        notes = h('div', { class: 'head-notes' });
    const running = h('div', {});
    const again = h(
        'button',
        {
            class: 'button small icon-only',
            'aria-label': 'Refresh',
            title: 'Read what changed in its files',
            hidden: true,
        },
        icon('refresh'),
    );
    again.addEventListener('click', refresh);
    let progress = null,
        page = 'overview';
    const element = h(
        'header',
        { class: 'page-head' },
        h(
            'div',
            { class: 'page-title' },
            h('h1', {}, trace.name),
            trace.state !== 'ready' && h('span', { class: `badge ${trace.state}` }, trace.state),
            (trace.tags ?? []).map((tag) => h('span', { class: 'tag' }, tag)),
            ways,
            again,
            live,
            h('span', { class: 'path', title: trace.path }, trace.path),
            why,
        ),
        trace.state === 'stale' &&
            h('p', { class: 'notice warn' }, 'The files changed since they were read. Refresh shows the new events.'),
        running,
        notes,
    );
    session().then(
        ({ role }) => {
            again.hidden = role === 'viewer';
        },
        () => {},
    );

    async function refresh() {
        const answer = await attempt(() => send('POST', `traces/${trace.id}/refresh`));
        if (!answer) return;
        const job = answer.job ?? answer;
        progress?.close();
        progress = jobProgress(job.id, {
            onEnd: ({ state }) => {
                if (state === 'done') toast(`${trace.name} was read again`);
                fill(running);
                onRefreshed();
            },
        });
        fill(running, progress.element);
    }

    async function showWays() {
        if (!known?.some(({ id }) => id === trace.id)) known = (await list()).traces;
        const at = known.findIndex(({ id }) => id === trace.id);
        if (known.length < 2 || at < 0) return;
        fill(
            ways,
            step(known[at - 1], 'Previous trace', '\u2039'),
            switcher(),
            step(known[at + 1], 'Next trace', '\u203a'),
        );
    }

    function step(other, words, sign) {
        return other
            ? h(
                  'a',
                  {
                      class: 'button small icon-only',
                      href: to(other),
                      'aria-label': words,
                      title: `${words}: ${other.name}`,
                  },
                  sign,
              )
            : h('button', { class: 'button small icon-only', disabled: true, 'aria-label': words }, sign);
    }

    function to(other) {
        return link({ page, trace: other.id }, {});
    }

    function switcher() {
        const select = h(
            'select',
            {
                'aria-label': 'Another trace',
                onchange: () => h('a', { href: to({ id: select.value }) }).click(),
            },
            known.map((one) => h('option', { value: one.id, selected: one.id === trace.id }, one.name)),
        );
        return select;
    }

    /**
     * @param {Object} place
     * @param {string[]} corrections  what of the address could not be taken as it was
     */
    function update(place, corrections) {
        page = place.page;
        const own = !place.preset || place.preset === trace.preset?.name;
        fill(
            why,
            'Preset ',
            h(
                'a',
                {
                    class: 'preset-link',
                    href: pageLink('presets', { edit: place.preset ?? trace.preset?.name }, place),
                    title: 'What its layers are, and presets of your own',
                },
                place.preset ?? trace.preset?.name,
            ),
            own
                ? trace.preset?.why && ` \u2013 ${trace.preset.why}`
                : ` \u2013 chosen instead of ${trace.preset?.name}`,
        );
        why.title = why.textContent;
        fill(notes, corrections.length > 0 && h('p', { class: 'notice warn', role: 'status' }, corrections.join(' ')));
        showWays();
    }

    return { element, update, close: () => progress?.close() };
}
