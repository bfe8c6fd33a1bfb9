import { copyFile, glob, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { adviceOn, TOOL_ADVICE } from '@svc/api/error-advice'
import { ERROR_GUIDE } from '@svc/api/error-guide'
import { ERROR_STATUS } from '@svc/api/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FACT_MEANINGS } from '../../src/mcp/explain/facts.ts'
import { SERVER_CODES } from '../../src/mcp/explain/topics.ts'
import { codeOf, startServer, type TestServer, textOf, useDesk } from './client.ts'

const desk = useDesk()
let server: TestServer
beforeAll(async () => {
  const SVC_WALLET = await desk.keyFile('key', '11'.repeat(32))
  // `fetch` never connects to the discard port, so nothing on this machine can answer.
  const closed = 'http://127.0.0.1:9'
  server = await startServer('memory', desk, { SVC_GATEWAY: closed, SVC_PRIMARY_RPC: closed, SVC_WALLET })
})
afterAll(() => server.stop())

const receipt_id = `rcpt_${'0'.repeat(32)}`
const PAYING = ['buy', 'renew_locker', 'subscribe']

describe('the listing', () => {
  it('has arguments and annotations for every tool', async () => {
    const { tools } = await server.client.listTools()
    const hints = Object.fromEntries(tools.map(({ name, annotations = {} }) => [name, annotations]))
    expect(Object.keys(hints)).toEqual([
      'quote',
      'buy',
      'renew_locker',
      'purchase_status',
      'list_lockers',
      'put_file',
      'write_text',
      'list_files',
      'read_file',
      'delete_file',
      'get_link',
      'public_link',
      'revoke_urls',
      'attest',
      'bundle',
      'verify',
      'explain',
      'agent_status',
      'subscribe',
      'delegate',
      'end_delegation',
    ])
    const readOnly = Object.keys(hints).filter((name) => hints[name]?.readOnlyHint)
    expect(readOnly).toEqual([
      ...['quote', 'purchase_status', 'list_lockers', 'list_files', 'read_file', 'get_link'],
      ...['bundle', 'verify', 'explain', 'agent_status'],
    ])
    expect(Object.keys(hints).filter((name) => hints[name]?.destructiveHint)).toEqual([
      ...['buy', 'renew_locker', 'put_file', 'write_text', 'delete_file'],
      ...['public_link', 'revoke_urls', 'subscribe', 'delegate', 'end_delegation'],
    ])
    for (const { name, description = '', inputSchema } of tools) {
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
      expect(description, name).toMatch(/^[A-Z].{40,}\.$/)
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {}))
        expect(schema, `${name} ${argument}`).toMatchObject({ description: expect.stringMatching(/\.$/) })
    }
  })

  it('is below 20,000 bytes, because every conversation begins with it', async () => {
    const list = await server.client.listTools()
    expect(Buffer.byteLength(JSON.stringify(list))).toBeLessThan(20_000)
  })

  it('T-197 names every paying tool wherever it lists what costs money', async () => {
    const { tools } = await server.client.listTools()
    const paying = tools.filter(({ description }) => description?.includes('SPENDS REAL MONEY'))
    expect(paying.map(({ name }) => name)).toEqual(PAYING)
    const { contents } = await server.client.readResource({ uri: 'svc://help' })
    const help = (contents[0] as { text: string }).text
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    const named = '`buy`, `renew_locker` and `subscribe`'
    expect([help, readme]).toEqual([
      expect.stringContaining(`Only ${named} pay`),
      expect.stringContaining(`Only ${named} pay`),
    ])
    for (const name of PAYING) expect(server.client.getInstructions()).toMatch(new RegExp(`${name} \\(spends money\\)`))
  })

  it('T-197 explains that a subscription costs more than the purchase limit, and how to raise the limit', async () => {
    const { contents } = await server.client.readResource({ uri: 'svc://help' })
    const { text } = contents[0] as { text: string }
    expect(text).toMatch(/subscribe.*\$5.*SVC_MCP_MAX_USD.*SVC_MCP_MAX_USD_PER_DAY/s)
  })

  it('never asks the model for a new intent per request', async () => {
    const { tools } = await server.client.listTools()
    const paying = tools.filter(({ name }) => PAYING.includes(name))
    expect(paying).toHaveLength(PAYING.length)
    for (const tool of paying) {
      expect(JSON.stringify(tool)).not.toMatch(/unique/i)
      expect(tool.description).toContain('same purchase = same `intent`')
      expect(tool.description).toContain('Do not invent a new intent to retry')
    }
  })

  it('offers the help resource, and unknown resources cannot be read', async () => {
    const { resources } = await server.client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['svc://help', 'svc://discovery'])
    const { contents } = await server.client.readResource({ uri: 'svc://help' })
    expect((contents[0] as { text: string }).text).toContain('at most $1.00 for a purchase, $5.00 a day')
    const uris = [
      'file:///etc/passwd',
      'svc://lockers/x/a',
      `svc://lockers/${receipt_id}/`,
      `svc://lockers/${receipt_id}/%`,
    ]
    for (const uri of uris)
      await expect(server.client.readResource({ uri }), uri).rejects.toThrow(
        /Resource not found: .*There are: svc:\/\/help/,
      )
  })

  it('has a prompt that stores a file and proves it', async () => {
    const { prompts } = await server.client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['store_and_prove'])
    const ask = async (args: Record<string, string>) => {
      const { messages } = await server.client.getPrompt({ name: 'store_and_prove', arguments: args })
      return (messages[0]!.content as { text: string }).text
    }
    expect(await ask({ path: 'a "b".txt' })).toMatch(/"a \\"b\\".txt".*buy only when I agree/s)
    expect(await ask({ path: 'a', receipt_id })).toContain(receipt_id)
    await expect(ask({})).rejects.toThrow('needs a path')
    await expect(server.client.getPrompt({ name: 'other' })).rejects.toThrow(
      'Unknown prompt: other. There is: store_and_prove',
    )
  })
})

describe('an invalid call', () => {
  it.each(['Google Cloud Storage', 'MongoDB', 'STORJ', 'Arweave', 'Google Cloud', ' filecoin '])(
    'is not a call with the provider %s',
    async (provider) => {
      expect(codeOf(await server.ask('quote', { units: 1, provider }))).toBe('no_answer')
    },
  )

  it('is a protocol error if the tool is unknown', async () => {
    await expect(server.ask('delete_everything')).rejects.toThrow(
      /Unknown tool: delete_everything\. There are: quote, buy, .*, end_delegation$/,
    )
  })

  it.each<[string, object, RegExp]>([
    ['quote', { units: 0 }, /units must be >= 1/],
    ['quote', { units: '1' }, /units must be integer, not the string "1"/],
    ['quote', { units: 1, provider: 'floppy' }, /provider must be one of gcs, mongodb, .*firestore/],
    ['quote', { units: 1, provider: 7 }, /provider must be one of gcs/],
    ['buy', { units: '1' }, /units must be integer, not the string "1"/],
    ['buy', { units: 1, confirm: true }, /unknown argument: confirm.*buy takes: units, provider, asset, name/],
    ['buy', { units: 1, name: '' }, /name: a locker cannot be called "".*Nothing was paid/],
    ['buy', { units: 1, name: 'a/b' }, /name: a locker cannot be called "a\/b".*Nothing was paid/],
    ['buy', { units: 1, name: 'rcpt_1' }, /name: a locker cannot be called/],
    ['buy', { units: 1, intent: '   ' }, /intent/],
    ['put_file', { receipt_id: 'locker_0123456789ab', filename: 'x' }, /receipt_id.*`list_lockers`.*locker_/],
    ['public_link', { receipt_id, action: 'burn' }, /action must be one of rotate, close, open/],
    ['verify', { receipt_id, path: 'x' }, /one of/],
  ])('to %s with %j is answered with the name of the bad argument', async (name, input, words) => {
    const result = await server.ask(name, input)
    expect(codeOf(result)).toBe('bad_arguments')
    expect(textOf(result)).toMatch(words)
  })
})

describe('verify with a log', () => {
  beforeAll(async () => {
    for (const file of ['vectors/bundles/log.json', 'vectors/bundles/log-one-witness.json', 'docs/examples/log.policy'])
      await copyFile(new URL(`../../../../${file}`, import.meta.url), join(desk.root, basename(file)))
    await writeFile(join(desk.root, 'unclear.policy'), 'quorum w1\n')
    await writeFile(join(desk.root, 'large.policy'), '#'.repeat(70_000))
  })

  async function verified(input: object) {
    const { facts, log } = (await server.call('verify', input)) as {
      facts: { fact: string; value: string }[]
      log: object
    }
    return { log, facts: Object.fromEntries(facts.map(({ fact, value }) => [fact, value])) }
  }

  it('LOG-35 checks it by a policy, and names the witnesses with their times', async () => {
    const { log, facts } = await verified({ path: 'log.json', policy: 'log.policy' })
    expect(facts).toMatchObject({ log_included: 'passed', log_cosigned: 'passed', log_anchored: 'unavailable' })
    expect(log).toMatchObject({
      origin: 'gateway.example/log',
      index: 4,
      size: 7,
      cosigned: [{ name: 'w1.example/witness', at: '2026-06-12T00:00:01Z' }, {}],
    })
    const text = textOf(await server.ask('verify', { path: 'log.json', policy: 'log.policy' }))
    expect(text).toContain('Witness: w1.example/witness, 2026-06-12T00:00:01Z.')
    const { facts: fewer } = await verified({ path: 'log-one-witness.json', policy: 'log.policy' })
    expect(fewer).toMatchObject({ log_included: 'passed', log_cosigned: 'failed' })
  })

  it('LOG-35 checks it by the key of a log, and not at all without one', async () => {
    const [, key = ''] = /^log (\S+)/m.exec(await readFile(join(desk.root, 'log.policy'), 'utf8')) ?? []
    const { facts } = await verified({ path: 'log.json', log_keys: [key] })
    expect(facts).toMatchObject({ log_included: 'passed', log_cosigned: 'not_checked' })
    const { facts: without } = await verified({ path: 'log.json' })
    expect(without).toMatchObject({ log_included: 'not_checked', log_cosigned: 'not_checked' })
  })

  it.each<[object, string, RegExp]>([
    [{ policy: 'unclear.policy' }, 'bad_policy', /line 1: w1 is not defined above/],
    [{ policy: 'large.policy' }, 'bad_policy', /more than 65536 bytes/],
    [{ policy: '../state' }, 'path_outside_root', /state/],
    [{ policy: 'none.policy' }, 'path_unreadable', /none/],
    [{ log_keys: ['gateway.example'] }, 'bad_policy', /a key is written as/],
  ])('LOG-35 rejects %j', async (given, code, why) => {
    const result = await server.ask('verify', { path: 'log.json', ...given })
    expect(codeOf(result)).toBe(code)
    expect(textOf(result)).toMatch(why)
  })
})

describe('explain', () => {
  it('knows every error code, every fact and every topic', async () => {
    for (const about of [...Object.keys(ERROR_STATUS), ...Object.keys(FACT_MEANINGS)]) {
      const { kind, means } = await server.call('explain', { about })
      expect(['code', 'fact'], about).toContain(kind)
      expect(means).not.toBe('')
    }
    for (const about of ['receipt', 'Locker', 'statement', 'anchor', 'bundle', 'intent', 'limits', 'policy'])
      expect(await server.call('explain', { about }), about).toMatchObject({ kind: 'topic' })
  })

  it('T-197 never advises to spend: no error code and no refusal of a tool', async () => {
    const guide = Object.entries(ERROR_GUIDE).map(([code, { next }]) => [code, adviceOn(TOOL_ADVICE, code) ?? next])
    const here = Object.entries(SERVER_CODES).map(([code, { next }]) => [code, next])
    const sources = fileURLToPath(new URL('../../src/mcp', import.meta.url))
    const refusals: string[][] = []
    for await (const file of glob('**/*.ts', { cwd: sources })) {
      const source = await readFile(join(sources, file), 'utf8')
      for (const [text] of source.matchAll(/new Refusal\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g))
        refusals.push([file, text])
      for (const [text] of source.matchAll(/hint\w*\b.*/gi)) refusals.push([file, text])
    }
    expect(refusals.length).toBeGreaterThan(40)
    const spending = [...guide, ...here, ...refusals].filter(([, next = '']) =>
      /\b(buy|pay|renew(_locker)?|subscribe|spend)\b/i.test(next.replaceAll('do not pay again', '')),
    )
    expect(spending).toEqual([])
    expect(TOOL_ADVICE.locker_not_found).toContain('`list_lockers`')
    expect(TOOL_ADVICE.receipt_not_found).toContain('`list_lockers`')
  })

  it('answers "unknown" for any other word', async () => {
    for (const about of ['toString', '__proto__', 'constructor', 'xyz'])
      expect(await server.call('explain', { about }), about).toMatchObject({
        kind: 'unknown',
        means: expect.stringMatching(/Words: quote, .*Facts: merkle_root_matches, .*Codes of this server: not_paid/),
      })
  })
})

describe('an unreachable gateway', () => {
  it('is reported as no_answer, with a hint that a repeated call is safe', async () => {
    const result = await server.ask('list_files', { receipt_id })
    expect(codeOf(result)).toBe('no_answer')
    expect(textOf(result)).toMatch(/safe to repeat the same call/)
  })
})
