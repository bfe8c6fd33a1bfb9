import { ERROR_STATUS } from '@svc/api/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FACT_MEANINGS } from '../src/explain/facts.ts'
import { codeOf, type Desk, openDesk, startServer, type TestServer, textOf } from './client.ts'

let desk: Desk
let server: TestServer
beforeAll(async () => {
  desk = await openDesk()
  const SVC_WALLET = await desk.keyFile('key', '11'.repeat(32))
  // Nothing listens on the discard port.
  server = await startServer('memory', desk, { SVC_GATEWAY: 'http://127.0.0.1:9', SVC_WALLET })
})
afterAll(async () => {
  await server.stop()
  await desk.remove()
})

const receipt_id = `rcpt_${'0'.repeat(32)}`

describe('the listing', () => {
  it('has schemas and annotations for every tool', async () => {
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
      ...['verify', 'explain', 'agent_status'],
    ])
    expect(Object.keys(hints).filter((name) => hints[name]?.destructiveHint)).toEqual([
      ...['buy', 'renew_locker', 'put_file', 'write_text', 'delete_file'],
      ...['public_link', 'revoke_urls', 'subscribe', 'delegate', 'end_delegation'],
    ])
    for (const { name, inputSchema, outputSchema } of tools) {
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema, name).toMatchObject({ type: 'object' })
    }
  })

  it('never asks the model for a new intent per request', async () => {
    const { tools } = await server.client.listTools()
    const paying = tools.filter(({ name }) => ['buy', 'subscribe'].includes(name))
    expect(paying).toHaveLength(2)
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
    for (const uri of uris) await expect(server.client.readResource({ uri }), uri).rejects.toThrow('Resource not found')
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
    await expect(server.client.getPrompt({ name: 'other' })).rejects.toThrow('Unknown prompt')
  })
})

describe('an invalid call', () => {
  it('of an unknown tool is a protocol error', async () => {
    await expect(server.ask('delete_everything')).rejects.toThrow('Unknown tool: delete_everything')
  })

  it.each<[string, object, RegExp]>([
    ['quote', {}, /units/],
    ['quote', { units: 0 }, /units must be >= 1/],
    ['quote', { units: '1' }, /units must be integer/],
    ['quote', { units: 1, provider: 'floppy' }, /provider/],
    ['buy', { units: 1, confirm: true }, /there is no argument confirm/],
    ['buy', { units: 1, intent: '   ' }, /intent/],
    ['list_files', { receipt_id: 'rcpt_1' }, /receipt_id/],
    ['list_files', { receipt_id, limit: 5000 }, /limit/],
    ['list_lockers', { limit: 0 }, /limit/],
    ['get_link', { receipt_id }, /filename/],
    ['public_link', { receipt_id, action: 'burn' }, /action/],
    ['revoke_urls', {}, /receipt_id/],
    ['verify', {}, /one of/],
    ['verify', { receipt_id, path: 'x' }, /one of/],
    ['put_file', { receipt_id, filename: 'x', content: 'aGVsbG8=' }, /there is no argument content/],
  ])('of %s with %j names the bad argument', async (name, input, words) => {
    const result = await server.ask(name, input)
    expect(codeOf(result)).toBe('bad_arguments')
    expect(textOf(result)).toMatch(words)
  })
})

describe('explain', () => {
  it('knows every error code, every fact and every topic', async () => {
    for (const about of [...Object.keys(ERROR_STATUS), ...Object.keys(FACT_MEANINGS)]) {
      const { kind, means } = await server.call('explain', { about })
      expect(['code', 'fact'], about).toContain(kind)
      expect(means).not.toBe('')
    }
    for (const about of ['receipt', 'Locker', 'statement', 'anchor', 'bundle', 'intent', 'limits'])
      expect(await server.call('explain', { about }), about).toMatchObject({ kind: 'topic' })
  })

  it('answers "unknown" for any other word', async () => {
    for (const about of ['toString', '__proto__', 'constructor', 'xyz'])
      expect(await server.call('explain', { about }), about).toMatchObject({ kind: 'unknown' })
  })
})

describe('an unreachable gateway', () => {
  it('is reported as no_answer, with a hint that a repeated call is safe', async () => {
    const result = await server.ask('list_files', { receipt_id })
    expect(codeOf(result)).toBe('no_answer')
    expect(textOf(result)).toMatch(/same arguments is safe/)
  })

  it('keeps buy from paying', async () => {
    const result = await server.ask('buy', { units: 1 })
    expect(codeOf(result)).toBe('no_answer')
    expect(await server.call('purchase_status')).toMatchObject({ purchases: [] })
  })

  it('does not affect tools that need no gateway', async () => {
    expect(await server.call('explain', { about: 'no_answer' })).toMatchObject({ kind: 'code' })
  })
})
