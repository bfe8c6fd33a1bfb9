import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@svc/service/program/log'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openKnownLogs } from '../../src/logs/known-logs.ts'
import { testLog } from '../requests.ts'

const [one, two] = [testLog('one.example'), testLog('two.example')]
let folder: string
let logged = ''
const write = (line: string) => {
  logged += line
}
const log = createLog('warn', { write, writeSoon: write, flush: () => {} })
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-logs-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

it('WIT-08 the list of logs is read again when it changes, and an invalid change is ignored', () => {
  const file = join(folder, 'logs.txt')
  const known = openKnownLogs(file, log)
  expect(logged).toContain('no logs are configured')
  expect(known.all()).toEqual({ logs: [], witnesses: [] })

  writeFileSync(file, `# logs\n${one.line} https://one.example/log\n`)
  expect(known.all().logs).toEqual([{ key: one.key, url: 'https://one.example/log' }])
  writeFileSync(file, `${one.line}\n${two.line}\nquorum none\n`)
  expect(known.keysOf('two.example')).toEqual([two.key])
  expect(known.keysOf('three.example')).toEqual([])

  writeFileSync(file, `${two.line}\nlog nonsense\n`)
  expect(known.keysOf('one.example')).toEqual([one.key])
  expect(logged).toContain('line 2')
  const reports = () => logged.split('the list of logs stays unchanged').length - 1
  expect([known.all().logs.length, reports()]).toEqual([2, 1])
  rmSync(file)
  expect([known.all().logs.length, reports()]).toEqual([2, 2])
  writeFileSync(file, `${two.line}\n`)
  expect(known.all().logs).toEqual([{ key: two.key, url: null }])
})

it('WIT-08 a witness does not start with an unreadable list', () => {
  const file = join(folder, 'bad.txt')
  writeFileSync(file, `${one.line}\n${one.line}\n`)
  expect(() => openKnownLogs(file, log)).toThrow(/bad\.txt: line 2: /)
  expect(() => openKnownLogs(folder, log)).toThrow('cannot be read: EISDIR')
})
