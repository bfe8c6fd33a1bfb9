import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundlePrograms } from '@svc/devnet/bundling/bundle-programs'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'
import { bundleOf } from '../../src/program/bundle.ts'

function start(program: string, ...args: string[]) {
  const { log, waitForLine, kill, ...started } = startProcess(new URL(`programs/${program}`, import.meta.url), { args })
  const ended = started.ended.then(({ code, signal }) => [code, signal])
  return {
    logged: (msg: string) => log().filter((line) => line.msg === msg),
    ended,
    until: (msg: string) => waitForLine(new RegExp(`"msg":"${msg}"`)),
    stop() {
      void kill('SIGTERM')
      return ended
    },
  }
}

it('T-01 a process that dies during a question, and one that cannot be started, are replaced', {
  tags: ['nightly'],
}, async () => {
  const processes = start('lose-a-process.ts')
  await processes.until('replaced')
  expect(processes.logged('a process ended and is replaced')).toMatchObject([
    { process: 2, signal: 'SIGKILL' },
    { process: 2, err: { code: 'ENOENT' } },
  ])
  expect(await processes.stop()).toEqual([0, null])
  expect(processes.logged('stopped')).toHaveLength(2)
})

it('processes stop on SIGTERM, even one that is still starting', { tags: ['nightly'] }, async () => {
  const processes = start('two-processes.ts', 'starts-slowly.ts')
  await processes.until('the second process starts')
  expect(await processes.stop()).toEqual([0, null])
  expect(processes.logged('stopped')).toHaveLength(2)
})

it('T-89 processes do not share the port of another program', async () => {
  const other = createServer().listen({ port: 0, host: '127.0.0.1', reusePort: process.platform === 'linux' })
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const processes = start('two-processes.ts', 'idle.ts', String(port))
  expect(await processes.ended).toEqual([1, null])
  expect(processes.logged('process started')).toEqual([])
  other.close()
})

it('a process that cannot answer the others keeps running, and is omitted', { tags: ['nightly'] }, async () => {
  const processes = start('two-processes.ts', 'cannot-answer.ts')
  await processes.until('answered')
  expect(processes.logged('answered')).toMatchObject([{ answers: [[2, 'answer']] }])
  expect(await processes.stop()).toEqual([0, null])
  expect(processes.logged('a process ended and is replaced')).toEqual([])
})

it('a replaced process runs the same code as the others, even after a source changed', {
  tags: ['nightly'],
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-changing-'))
  const program = pathToFileURL(join(folder, 'program.ts'))
  const idle = fileURLToPath(new URL('programs/idle.ts', import.meta.url))
  const log = "console.log(JSON.stringify({ msg: 'runs', version, pid: process.pid }))"
  writeFileSync(program, `export { run } from '${idle}'\nimport { version } from './version.ts'\n${log}\n`)
  const write = (version: string) => writeFileSync(join(folder, 'version.ts'), `export const version = '${version}'\n`)
  write('old')
  bundlePrograms([program])
  const bundle = bundleOf(program)!
  onTestFinished(() => {
    for (const made of [folder, dirname(dirname(bundle))]) rmSync(made, { recursive: true })
  })
  const processes = start('two-processes.ts', program.href)
  const untilRunning = (count: number) => expect.poll(() => processes.logged('runs').length).toBe(count)
  await untilRunning(2)
  write('new')
  process.kill(processes.logged('runs')[1]?.pid as number, 'SIGKILL')
  await untilRunning(3)
  expect(processes.logged('runs').map(({ version }) => version)).toEqual(['old', 'old', 'old'])
  await processes.stop()
})
