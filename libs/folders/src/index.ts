export { makeFolder } from './make-folder';
