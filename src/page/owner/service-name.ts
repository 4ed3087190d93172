/** The name of the service: in the title, until a view has its own there. The operator can choose it (src/http/console-page.ts). */
export const SERVICE_NAME = document.title.replace(/^.*? · /, '');
