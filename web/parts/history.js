/* history.js - what was typed before, the latest first, kept by this browser. */

const MOST = 30;

/**
 * @param {string} name  of the list, such as "filter"
 * @returns {string[]}
 */
export function remembered(name) {
    try {
        const texts = JSON.parse(localStorage.getItem(`history ${name}`) ?? '[]');
        return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
    } catch {
        return []; /* storage is off, or holds something else */
    }
}

export function remember(name, text) {
    if (!text) return;
    const texts = [text, ...remembered(name).filter((other) => other !== text)].slice(0, MOST);
    try {
        localStorage.setItem(`history ${name}`, JSON.stringify(texts));
    } catch {
        /* storage is off or full: this text is not kept */
    }
}
