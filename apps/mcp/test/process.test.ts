import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { VERSION } from '@svc/protocol/version'
import { describe, expect, it } from 'vitest'
import { readOptions } from '../src/server/serve.ts'
import { readSettings } from '../src/settings.ts'
import { environment, spawnHttp, useDesk } from './client.ts'

const MAIN = fileURLToPath(new URL('../bin/svc-mcp.mjs', import.meta.url))

const desk = useDesk()

function start(variables: Record<string, string>, ...args: string[]) {
  return spawn(process.execPath, [MAIN, ...args], { env: environment(desk, variables), stdio: 'pipe' })
}

describe('the server over stdio', () => {
  it('writes only messages to stdout, even for invalid input, and ends when stdin closes', async () => {
    const key = 'ab'.repeat(32)
    const SVC_WALLET = await desk.keyFile('key', key)
    const child = start({ SVC_WALLET, SVC_GATEWAY: 'http://127.0.0.1:9' })
    const log = text(child.stderr)
    const lines: unknown[] = []
    const reader = createInterface({ input: child.stdout })
    reader.on('line', (line) => lines.push(JSON.parse(line)))
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    child.stdin.write('this is no message\n{"jsonrpc":"1.0"}\n')
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo }
    say({ id: 1, method: 'initialize', params })
    say({ method: 'notifications/initialized' })
    say({ id: 2, method: 'tools/call', params: { name: 'explain', arguments: { about: key } } })
    say({ id: 3, method: 'no/such/method' })
    child.stdin.end()
    const [exitCode] = await once(child, 'exit')
    expect(exitCode).toBe(0)
    const answers = new Map((lines as { id?: number }[]).map((line) => [line.id, line]))
    expect(answers.get(1)).toMatchObject({ result: { serverInfo: { name: 'svc-mcp' } } })
    expect(answers.get(2)).toMatchObject({ result: { structuredContent: { kind: 'unknown' } } })
    expect(answers.get(3)).toMatchObject({ error: { code: -32601 } })
    expect(await log).toContain('explain: done')
    expect(await log).not.toContain(key)
  })

  it.each(['stderr', 'stdout'] as const)(
    'completes running calls after the client closes %s',
    { tags: ['nightly'] },
    async (stream) => {
      const child = start({})
      child[stream].destroy()
      const answers = stream === 'stderr' ? text(child.stdout) : null
      for (let id = 1; id < 4; id++) {
        const params = { name: 'explain', arguments: { about: 'money' } }
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`)
      }
      child.stdin.end()
      expect(await once(child, 'exit')).toEqual([0, null])
      if (answers) expect((await answers).split('\n')).toHaveLength(4)
    },
  )
})

describe('the server at start', () => {
  it('rejects a wallet file that others can read or that has no key, and does not print its contents', async () => {
    const SVC_WALLET = await desk.keyFile('poem', 'my secret poem')
    const child = start({ SVC_WALLET })
    const log = await text(child.stderr)
    expect(log).toMatch(/holds neither a Solana keypair/)
    expect(log).not.toContain('secret')
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(1)
    await chmod(SVC_WALLET, 0o644)
    expect(await text(start({ SVC_WALLET }).stderr)).toMatch(/others can read .*chmod 600/)
  })

  it('CFG-01 reports all problems of the settings at once', () => {
    const wrong = {
      SVC_GATEWAY: 'ftp://x',
      SVC_MCP_MAX_USD: '-1',
      SVC_MCP_MAX_USD_PER_DAY: '1e3',
      SVC_KEYS: 'ed25519:ab',
    }
    expect(() => readSettings(wrong, '/')).toThrow(/SVC_GATEWAY.*SVC_KEYS.*SVC_MCP_MAX_USD .*SVC_MCP_MAX_USD_PER_DAY/s)
    expect(readSettings({}, '/').limits).toMatchObject({ perPurchase: 1_000_000n, perDay: 5_000_000n })
  })

  it('rejects unknown options and invalid ports', () => {
    expect(readOptions([], {})).toEqual({ http: null, answer: null })
    expect(readOptions(['--http', '80'], {}).http).toEqual({ host: '127.0.0.1', port: 80, token: null })
    for (const args of [['--https', '1'], ['--http', '70000'], ['--http', 'x'], ['extra']])
      expect(() => readOptions(args, {}), args.join(' ')).toThrow(/svc-mcp --http PORT/)
  })
})

describe('the command', () => {
  it('prints its help and its version, also where nothing is set', async () => {
    const { answer } = readOptions(['--help'], {})
    expect(answer).toMatch(/SVC_WALLET.*svc wallet new/)
    const child = start({ SVC_GATEWAY: 'not an address' }, '--version')
    expect([await text(child.stdout), await text(child.stderr)]).toEqual([`${VERSION}\n`, ''])
  })
})

describe('the server at stop', () => {
  it('exits with 0 on SIGTERM', { tags: ['nightly'] }, async () => {
    const server = await spawnHttp(environment(desk, {}))
    const exit = once(server.child, 'exit')
    server.child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })
})
