import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { environment, type HttpProcess, startHttp, useDesk } from './client.ts'

/** Scenarios for features that this server does not offer. All others must pass. */
const NOT_OURS: Record<string, string> = {
  'completion-complete': 'no arguments are completed',
  'logging-set-level': 'logs go to stderr, not to the client',
  'json-schema-2020-12': 'needs a tool that only tests have',
  'tools-call-simple-text': 'needs a tool that only tests have',
  'tools-call-image': 'needs a tool that only tests have; no tool returns images',
  'tools-call-audio': 'needs a tool that only tests have; no tool returns audio',
  'tools-call-embedded-resource': 'needs a tool that only tests have',
  'tools-call-mixed-content': 'needs a tool that only tests have',
  'tools-call-with-logging': 'needs a tool that only tests have',
  'tools-call-error': 'needs a tool that only tests have',
  'tools-call-with-progress': 'needs a tool that only tests have',
  'tools-call-sampling': 'no tool asks the client’s model',
  'tools-call-elicitation': 'no tool asks the user',
  'elicitation-sep1034-defaults': 'no tool asks the user',
  'elicitation-sep1330-enums': 'no tool asks the user',
  'resources-read-text': 'needs a resource that only tests have',
  'resources-read-binary': 'needs a resource that only tests have',
  'resources-templates-read': 'needs a template that only tests have',
  'resources-subscribe': 'resources do not change by themselves',
  'resources-unsubscribe': 'resources do not change by themselves',
  'prompts-get-simple': 'needs a prompt that only tests have',
  'prompts-get-with-args': 'needs a prompt that only tests have',
  'prompts-get-embedded-resource': 'needs a prompt that only tests have',
  'prompts-get-with-image': 'needs a prompt that only tests have',
}

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const RUNNER = join(dirname(PACKAGE), 'dist/index.js')

const desk = useDesk()
let server: HttpProcess
beforeAll(async () => {
  server = await startHttp(environment(desk, { SVC_GATEWAY: 'http://127.0.0.1:9' }))
})
afterAll(() => server.kill())

const conformance = (...args: string[]) => startProcess(process.execPath, { args: [RUNNER, ...args] }).ended

it('the server passes every MCP conformance scenario except those for features it does not offer', {
  tags: ['nightly'],
}, async () => {
  const { stdout: list } = await conformance('list', '--server')
  const known = [...list.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1] as string)
  expect(Object.keys(NOT_OURS).filter((name) => !known.includes(name))).toEqual([])
  const { stdout } = await conformance('server', '--url', server.url, '--suite', 'all')
  const results = [...stdout.matchAll(/^([✓✗]) (\S+): \d+ passed, (\d+) failed/gm)]
  const failed = results.filter(([, , , failures]) => failures !== '0').map(([, , name]) => name)
  expect(results.map(([, , name]) => name).sort(), stdout).toEqual(known.sort())
  expect(failed.sort(), stdout).toEqual(Object.keys(NOT_OURS).sort())
})
