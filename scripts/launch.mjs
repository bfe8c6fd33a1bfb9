// Starts a program of this repository from a shell, on Node 20 or newer: plain JavaScript without dependencies. The
// programs are TypeScript, which Node 24 runs directly; if the shell's Node is older, prepare.mjs installs Node 24.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const THIS_FILE = fileURLToPath(import.meta.url)
const CACHE = fileURLToPath(new URL('../node_modules/.cache/svc', import.meta.url))
const OWN_NODE = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))

// `node launch.mjs <program> …`: the program receives the same arguments as without this file.
if (process.argv[1] === THIS_FILE) {
  process.argv.splice(1, 1)
  await launch(pathToFileURL(process.argv[1]))
}

/** `version` is the version of the running Node, and `ownNode` the path of the Node that prepare.mjs installs. */
export async function launch(program, { version = process.version, ownNode = OWN_NODE } = {}) {
  if (Number(version.slice(1).split('.')[0]) >= 24) {
    // Without the cache, loading Node's type stripper takes a third of the start time of a program.
    module.enableCompileCache(CACHE)
    const { importBundled } = await import('../packages/service/src/program/bundle.ts')
    return void (await importBundled(program))
  }
  if (existsSync(ownNode)) return runInChild(ownNode, fileURLToPath(program))
  console.error(
    `This program runs on Node 24 or newer; found ${version}. Run "node scripts/prepare.mjs" in the repository, which installs one on Linux (x64, arm64), or install Node 24.`,
  )
  process.exitCode = 1
}

/** Runs the program in a child with the same streams, signals and exit code. */
function runInChild(node, program) {
  const child = spawn(node, [THIS_FILE, program, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends these signals to the child as well.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => {
    process.removeAllListeners(signal ?? 'SIGTERM')
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code
  })
}
