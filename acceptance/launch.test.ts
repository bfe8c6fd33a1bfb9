import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '@svc/protocol/version'
import { afterAll, describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'svc-launch-'))

function run(file: string, ...args: string[]) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' })
  return { status, signal, stdout: stdout.trim(), stderr: stderr.trim() }
}

/** As if an older Node ran it. */
function runOnOldNode(program: string, ownNode: string, ...args: string[]) {
  const file = join(folder, 'launcher.mjs')
  const launcher = new URL('scripts/launch.mjs', root).href
  const call = `await launch(new URL(${JSON.stringify(program)}), { version: 'v20.20.2', ownNode: ${JSON.stringify(ownNode)} })`
  writeFileSync(file, `import { launch } from ${JSON.stringify(launcher)}\n${call}\n`)
  return run(file, ...args)
}

function programOf(source: string): string {
  writeFileSync(join(folder, 'program.mjs'), source)
  return new URL(`file://${folder}/program.mjs`).href
}

describe('the programs of the repository', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  it('start from their launchers', { tags: ['nightly'] }, () => {
    expect(run(fileURLToPath(new URL('apps/cli/bin/svc.mjs', root)), '--version')).toMatchObject({
      status: 0,
      stdout: VERSION,
    })
    const gateway = run(fileURLToPath(new URL('apps/gateway/bin/svc-gateway.mjs', root)), '--help')
    expect(gateway).toMatchObject({ status: 0, stdout: expect.stringContaining('set-up-registry') })
  })

  it('run on the installed Node where the one of the shell is too old, with arguments and exit code', {
    tags: ['nightly'],
  }, () => {
    const program = programOf('console.log(process.argv.slice(2).join()); process.exitCode = 7')
    expect(runOnOldNode(program, process.execPath, 'a', '--b')).toMatchObject({ status: 7, stdout: 'a,--b' })
  })

  it('end by the signal that ended the program', { tags: ['nightly'] }, () => {
    const program = programOf("process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 60_000)")
    expect(runOnOldNode(program, process.execPath)).toMatchObject({ status: null, signal: 'SIGTERM' })
  })

  it('say in one sentence which Node they need where there is none', () => {
    const { status, stdout, stderr } = runOnOldNode(programOf(''), join(folder, 'no-node'))
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^This program runs on Node 24 or newer; found v20.20.2. .*npm install.*$/)
  })
})
