// Starts a program of this repository from a shell, on any Node from 20 on: plain JavaScript, no dependencies. The
// programs are TypeScript, which Node 24 runs as it is; where the shell's Node is older, prepare.mjs installs one.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const THIS_FILE = fileURLToPath(import.meta.url)
const CACHE = fileURLToPath(new URL('../node_modules/.cache/svc', import.meta.url))
const OWN_NODE = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))

// `node launch.mjs <program> …`: the program sees the arguments that it would see without this file.
if (process.argv[1] === THIS_FILE) {
  process.argv.splice(1, 1)
  await launch(pathToFileURL(process.argv[1]))
}

/** `version` is that of the Node which runs this, `ownNode` the file of the one that was installed here. */
export async function launch(program, { version = process.version, ownNode = OWN_NODE } = {}) {
  if (Number(version.slice(1).split('.')[0]) >= 24) {
    // Otherwise Node loads what strips types, for a third of the time that a program takes to start.
    module.enableCompileCache(CACHE)
    const { importBundled } = await import('../packages/service/src/program/bundle.ts')
    return void (await importBundled(program))
  }
  if (existsSync(ownNode)) return hand(ownNode, fileURLToPath(program))
  console.error(
    `This program runs on Node 24 or newer; found ${version}. Run "node scripts/prepare.mjs" in the repository, which installs one on Linux (x64, arm64), or install Node 24.`,
  )
  process.exitCode = 1
}

/** The child takes the place of this process: same streams, signals and exit code. */
function hand(node, program) {
  const child = spawn(node, [THIS_FILE, program, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends these to the child as well.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => {
    process.removeAllListeners(signal ?? 'SIGTERM')
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code
  })
}
