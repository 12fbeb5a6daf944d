// The words of the chosen language. English is the only one so far.
export { en as words } from "./en";
