import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { VERSION } from '@svc/protocol/version'
import { afterAll, describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'svc-launch-'))

const run = (program: URL, ...args: string[]) => startProcess(program, { args }).ended

/** Runs the program as an older Node would. */
function runOnOldNode(program: string, ownNode: string, ...args: string[]) {
  const file = join(folder, 'launcher.mjs')
  const launcher = new URL('scripts/launch.mjs', root).href
  const call = `await launch(new URL(${JSON.stringify(program)}), { version: 'v20.20.2', ownNode: ${JSON.stringify(ownNode)} })`
  writeFileSync(file, `import { launch } from ${JSON.stringify(launcher)}\n${call}\n`)
  return run(pathToFileURL(file), ...args)
}

function programOf(source: string): string {
  writeFileSync(join(folder, 'program.mjs'), source)
  return new URL(`file://${folder}/program.mjs`).href
}

describe('the programs of the repository', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  it('start from their launchers', { tags: ['nightly'] }, async () => {
    const svc = await run(new URL('apps/cli/bin/svc.mjs', root), '--version')
    expect(svc).toMatchObject({ code: 0, stdout: `${VERSION}\n` })
    const gateway = await run(new URL('apps/gateway/bin/svc-gateway.mjs', root), '--help')
    expect(gateway).toMatchObject({ code: 0, stdout: expect.stringContaining('set-up-registry') })
  })

  it('run on the installed Node when that of the shell is too old, with arguments and exit code', {
    tags: ['nightly'],
  }, async () => {
    const program = programOf('console.log(process.argv.slice(2).join()); process.exitCode = 7')
    expect(await runOnOldNode(program, process.execPath, 'a', '--b')).toMatchObject({ code: 7, stdout: 'a,--b\n' })
  })

  it('end with the signal that ended the program', { tags: ['nightly'] }, async () => {
    const program = programOf("process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 60_000)")
    expect(await runOnOldNode(program, process.execPath)).toMatchObject({ code: null, signal: 'SIGTERM' })
  })

  it('state in one sentence which Node they need when there is none', async () => {
    const { code, stdout, stderr } = await runOnOldNode(programOf(''), join(folder, 'no-node'))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^This program runs on Node 24 or newer; found v20.20.2. .*scripts\/prepare.mjs.*\n$/)
  })
})
