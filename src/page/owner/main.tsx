// The console at /owner. It starts here.
import { render } from 'preact';
import { Console } from './console.tsx';

// A held Enter would press again and again what it has pressed, and then what takes its place: in all views, forms and dialogs.
document.addEventListener(
  'keydown',
  (event) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  },
  true,
);

const root = document.getElementById('console');

// The back-forward cache keeps a page that was left in memory, with its session. What it showed goes before it is kept, and when
// it comes back, the page starts again: it goes on only if the tab still has a session.
addEventListener('pagehide', ({ persisted }) => persisted && root?.remove());
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

if (root !== null) render(<Console />, root);
