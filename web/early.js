/* theme.js - light or dark as chosen with the switch, before anything is painted (a classic script, so it blocks). */
try {
    const theme = localStorage.getItem('theme');
    if (theme) document.documentElement.dataset.theme = theme;
} catch {
    /* storage is off: the system's choice stays */
}
