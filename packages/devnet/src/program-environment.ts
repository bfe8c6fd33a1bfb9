import { fileURLToPath } from 'node:url'

/** `node LAUNCHER <program> …` runs it from its bundle, which takes a quarter of the time that its sources take to load. */
export const LAUNCHER = fileURLToPath(new URL('../../../scripts/launch.mjs', import.meta.url))

/** The test runner sets others of its own, BASE_URL among them. */
const PASSED_ON = ['PATH', 'NODE_COMPILE_CACHE', 'TMPDIR']

/** The environment of a program that a test starts: these variables, and none of ours that would change what it does. */
export function programEnvironment(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const named = PASSED_ON.map((name) => [name, process.env[name]])
  const all = [...named, ...Object.entries(variables)]
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}
