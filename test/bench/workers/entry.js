import './quiet.js';

export { default } from './worker.js';
