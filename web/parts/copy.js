/* copy.js - whatever is on screen is a call of the public API: copy it as curl or pandas, or take the CSV. */

import { needsToken, sendForText, url } from '../api.js';
import { h } from '../dom.js';
import { menu } from './menu.js';
import { attempt, toast } from './notice.js';

/** Puts text on the clipboard, also where the page is not a secure context. */
export async function copyText(text, what) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = document.createElement('textarea');
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
    }
    toast(`Copied ${what}`);
}

/* What is copied runs outside of the page, without its session: where a token is needed it is taken from the
 * environment. */

/** The option of curl that passes the token, and a blank; or nothing. */
export function curlToken() {
    return needsToken() ? '-H "Authorization: Bearer $STRATA_TOKEN" ' : '';
}

const PANDAS_HEADERS = '{"Authorization": "Bearer " + os.environ["STRATA_TOKEN"]}';

export function curlOf(path, parameters) {
    return `curl ${curlToken()}'${url(path, parameters).replaceAll("'", '%27')}'`;
}

export function pandasOf(path, parameters) {
    const address = JSON.stringify(url(path, { ...parameters, format: 'csv' }));
    if (!needsToken()) return `import pandas as pd\nframe = pd.read_csv(${address})`;
    return `import os\nimport pandas as pd\nframe = pd.read_csv(${address}, storage_options=${PANDAS_HEADERS})`;
}

function pandasPostOf(path, request) {
    const [imports, headers] = needsToken() ? ['import os\n', `, headers=${PANDAS_HEADERS}`] : ['', ''];
    return `${imports}import pandas as pd, requests\nanswer = requests.post(${JSON.stringify(url(path))}, data=${JSON.stringify(request)}${headers}).json()\nframe = pd.DataFrame(answer["data"], columns=answer["columns"])`;
}

/**
 * The menu that every table and chart has; for a response that is no table, only its call.
 * @param {string} path
 * @param {Object} parameters
 * @param {string|null} name  of the file that CSV is saved as; null: the answer is no table
 * @param {import('./menu.js').Item[]} [more]
 */
export function copyMenu(path, parameters, name, more = []) {
    /** @type {import('./menu.js').Item[]} */
    const tabular =
        name === null
            ? []
            : [
                  { text: 'Copy as pandas', action: () => copyText(pandasOf(path, parameters), 'as pandas') },
                  { text: 'Save as CSV', href: url(path, { ...parameters, format: 'csv' }), download: `${name}.csv` },
              ];
    return menu({
        label: 'Copy or save',
        text: 'Export',
        icon: 'copy',
        items: [
            { text: 'Copy as curl', action: () => copyText(curlOf(path, parameters), 'as curl') },
            ...tabular,
            ...more,
        ],
    });
}

/**
 * The menu of a table that is asked by POST.
 * @param {string} path
 * @param {Object} body
 * @param {string} name  of the file that CSV is saved as
 */
export function postMenu(path, body, name) {
    const request = JSON.stringify(body),
        shell = request.replaceAll("'", "'\\''");
    return menu({
        label: 'Copy or save',
        text: 'Export',
        icon: 'copy',
        items: [
            {
                text: 'Copy as curl',
                action: () =>
                    copyText(
                        `curl ${curlToken()}-X POST '${url(path)}' -H 'Content-Type: application/json' -d '${shell}'`,
                        'as curl',
                    ),
            },
            { text: 'Copy as pandas', action: () => copyText(pandasPostOf(path, request), 'as pandas') },
            {
                text: 'Save as CSV',
                action: () =>
                    attempt(async () => saveText(await sendForText(path, { format: 'csv' }, body), `${name}.csv`)),
            },
        ],
    });
}

/** Saves text that the page made itself. */
export function saveText(words, name, type = 'text/csv') {
    const address = URL.createObjectURL(new Blob([words], { type }));
    h('a', { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}
