/* signin.js - trades an access token for a session cookie. */

import { signIn } from '../api.js';
import { fill, h } from '../dom.js';

/**
 * @param {HTMLElement} host
 * @param {() => void} done
 */
export function open(host, done) {
    const complaint = h('p', { class: 'bad-text', role: 'alert' });
    const token = h('input', {
        type: 'password',
        name: 'token',
        autocomplete: 'current-password',
        required: true,
        autofocus: true,
    });
    const submit = async (event) => {
        event.preventDefault();
        try {
            await signIn(token.value.trim());
            done();
        } catch (problem) {
            complaint.textContent = [401, 403].includes(problem.status)
                ? 'This token is not known to the server.'
                : problem.message;
            token.select();
        }
    };
    document.title = 'Sign in \u00b7 Strata';
    fill(
        host,
        h(
            'section',
            { class: 'card sign-in' },
            h('h1', {}, 'Sign in'),
            h('p', { class: 'hint' }, 'This server asks for an access token. Whoever runs it can give you one.'),
            h(
                'form',
                { class: 'fields', onsubmit: submit },
                h('label', {}, h('span', {}, 'Access token'), token),
                complaint,
                h('button', { class: 'button primary' }, 'Sign in'),
            ),
        ),
    );
    token.focus();
}
