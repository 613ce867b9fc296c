/* slope_card.js - which rows take more of the time than of the calls, as DFAnalyzer sees it. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { go } from '../state.js';
import { chartCard } from './chart_card.js';
import { SCORES } from './metrics.js';
import { pick, rowName, viewParameters } from './rows_by.js';
import { slopes } from './slopes.js';
import { recordsOf } from './table.js';

const MOST = 10000;

/* metrics.md section 7: the score of a slope counts the angles it exceeds. */
const STEPS = [15, 30, 45, 60, 75].map((angle) => Math.tan((angle * Math.PI) / 180));

export function slopeCard() {
    const card = chartCard({
        name: 'slopes',
        title: 'Share of the time over share of the calls',
        kind: slopes,
        height: 320,
    });

    /**
     * @param {import('./distribution.js').LayerView} view
     * @param {import('./rows_by.js').RowsBy} rowsBy
     */
    function update(view, rowsBy) {
        const { trace, place, parameters, layer, columns, granularity } = view;
        const kinds = ['', ...view.metrics.map(({ name }) => `${name}_`)].filter((prefix) =>
            columns.includes(`${prefix}ops_slope`),
        );
        const kind = kinds.find((prefix) => prefix === `${place.slope}_`) ?? '';
        const wanted = ['count_per', 'time_per', 'ops_slope'].map((name) => kind + name);
        const path = `traces/${trace.id}/views/layer`;
        const asked = {
            ...parameters,
            layer: layer.name,
            ...viewParameters(rowsBy, true),
            columns: [...rowsBy.keys, ...wanted].join(','),
            sort: `-${kind}ops_slope`,
            limit: MOST,
        };
        card.update({
            what: `Comparing shares of ${layer.name}`,
            path,
            parameters: asked,
            load: (signal) => getOf(trace, path, asked, signal),
            file: `${trace.name}-${layer.name}-slopes`,
            tools: [
                h('label', { class: 'visually-hidden', for: 'slope' }, 'Calls'),
                h(
                    'select',
                    { id: 'slope', onchange: (event) => go({ slope: event.target.value }) },
                    kinds.map((prefix) =>
                        h(
                            'option',
                            { value: prefix.slice(0, -1), selected: prefix === kind },
                            prefix ? prefix.slice(0, -1) : `all of ${layer.name}`,
                        ),
                    ),
                ),
            ],
            note: 'rows by slope, the steepest first, added up',
            above: h(
                'p',
                { class: 'scores' },
                SCORES.map((words, score) => score > 0 && h('span', { class: 'scored', data: { score } }, words)),
            ),
            draw: (answer) => {
                const rows = recordsOf(answer).filter((row) => row[wanted[2]] !== null);
                if (rows.length === 0) return null;
                return {
                    rows: rows.map((row) => ({
                        name: rowName(rowsBy, row, granularity, trace.job_time),
                        calls: row[wanted[0]],
                        time: row[wanted[1]],
                        slope: row[wanted[2]],
                        score: STEPS.filter((step) => step < row[wanted[2]]).length,
                    })),
                    label: `Share of the time over share of the calls of ${layer.name}`,
                    onPick: (index) => pick(rowsBy, rows[index], granularity),
                };
            },
        });
    }
    return { element: card.element, update, close: card.close };
}
