import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { startProcess } from '@svc/devnet/start-process'
import { VERSION } from '@svc/protocol/version'
import { describe, expect, it } from 'vitest'
import { useHome } from '../host.ts'
import { environment, MAIN, settingsIn, startHttp, useDesk } from './client.ts'

const desk = useDesk()
const home = useHome()

function start(variables: Record<string, string>, ...args: string[]) {
  return startProcess(MAIN, { args, env: environment(desk, variables) })
}

describe('the server over stdio', () => {
  it('writes only messages to stdout, even for invalid input, and ends when stdin closes', async () => {
    const key = 'ab'.repeat(32)
    const SVC_WALLET = await desk.keyFile('key', key)
    const { stdin, log, ended } = start({ SVC_WALLET, SVC_GATEWAY: 'http://127.0.0.1:9' })
    const say = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    stdin.write('this is no message\n{"jsonrpc":"1.0"}\n')
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo }
    say({ id: 1, method: 'initialize', params })
    say({ method: 'notifications/initialized' })
    say({ id: 2, method: 'tools/call', params: { name: 'explain', arguments: { about: key } } })
    say({ id: 3, method: 'no/such/method' })
    stdin.end()
    const { code, stderr } = await ended
    expect(code).toBe(0)
    const answers = new Map(log().map((line) => [line.id, line]))
    expect(answers.get(1)).toMatchObject({ result: { serverInfo: { name: 'svc-mcp' } } })
    expect(answers.get(2)).toMatchObject({ result: { structuredContent: { kind: 'unknown' } } })
    expect(answers.get(3)).toMatchObject({ error: { code: -32601 } })
    expect(stderr).toContain('explain: done')
    expect(stderr).not.toContain(key)
  })

  it.each([
    ['stderr', '2> >(true)', 3],
    ['stdout', '> >(true)', 0],
  ])('completes running calls after the client closes %s', { tags: ['nightly'] }, async (_stream, closed, answers) => {
    const args = ['-c', `exec "$0" "$1" ${closed}`, process.execPath, fileURLToPath(MAIN)]
    const { stdin, log, ended } = startProcess('bash', { args, env: environment(desk, {}) })
    for (let id = 1; id < 4; id++) {
      const params = { name: 'explain', arguments: { about: 'money' } }
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`)
    }
    stdin.end()
    expect(await ended).toMatchObject({ code: 0 })
    expect(log()).toHaveLength(answers)
  })
})

describe('the server at start', () => {
  it('rejects a wallet file that others can read or that has no key, and does not print its contents', async () => {
    const SVC_WALLET = await desk.keyFile('poem', 'my secret poem')
    const { code, stderr } = await start({ SVC_WALLET }).ended
    expect([code, stderr]).toEqual([1, expect.stringMatching(/contains neither a Solana keypair/)])
    expect(stderr).not.toContain('secret')
    await chmod(SVC_WALLET, 0o644)
    expect((await start({ SVC_WALLET }).ended).stderr).toMatch(/other users can read .*chmod 600/s)
  })

  it.each([
    ['missing', /^svc mcp: SVC_MCP_ROOT: \S+\/missing does not exist\. See: svc mcp --help\n$/],
    ['poem', /^svc mcp: SVC_MCP_ROOT: \S+\/poem is not a folder\. See: svc mcp --help\n$/],
  ])('CFG-01 rejects the root %s in one line with exit code 2', async (name, stderr) => {
    await desk.keyFile('poem', 'roses are red')
    const { code, ...printed } = await start({ SVC_MCP_ROOT: join(desk.folder, name) }).ended
    expect([code, printed]).toEqual([2, expect.objectContaining({ stdout: '', stderr: expect.stringMatching(stderr) })])
  })

  it('CFG-01 reports all problems of the settings at once', async () => {
    const wrong = {
      SVC_GATEWAY: 'ftp://x',
      SVC_MCP_MAX_USD: '-1',
      SVC_MCP_MAX_USD_PER_DAY: '1e3',
      SVC_KEYS: 'ed25519:ab',
    }
    await expect(settingsIn({ HOME: desk.folder, ...wrong }, '/')).rejects.toThrow(
      /SVC_MCP_MAX_USD .*SVC_MCP_MAX_USD_PER_DAY.*"ftp:\/\/x" is not the address of the gateway.*SVC_KEYS/,
    )
    expect((await settingsIn({ HOME: desk.folder }, '/')).limits).toMatchObject({
      perPurchase: 1_000_000n,
      perDay: 5_000_000n,
    })
  })

  it.each([
    [['--https', '1'], /^svc mcp: unknown option --https.*See: svc mcp --help\n$/],
    [['--http', '70000'], /--http must be a port/],
    [['--http', 'x'], /--http must be a port/],
    [['extra'], /^svc mcp: too many arguments/],
  ])('rejects %j', async (args, stderr) => {
    expect(await home.svc(['mcp', ...args])).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(stderr) })
  })
})

describe('the command', () => {
  it('prints its help and its version, also where nothing is set', async () => {
    const help = await home.ok('mcp', '--help')
    expect(help.stdout).toMatch(/--http <port>.*SVC_MCP_MAX_USD.*svc wallet new/s)
    const { ended } = start({ SVC_GATEWAY: 'not an address' }, '--version')
    expect(await ended).toMatchObject({ stdout: `${VERSION}\n`, stderr: '' })
  })
})

describe('the server at stop', () => {
  it('exits with 0 on SIGTERM', { tags: ['nightly'] }, async () => {
    const server = await startHttp(environment(desk, {}))
    expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
  })
})
