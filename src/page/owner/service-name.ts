/** The service's name from the initial title, which the operator can configure (src/http/console-page.ts). */
export const SERVICE_NAME = document.title.replace(/^.*? · /, '');
