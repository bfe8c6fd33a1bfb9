// Subscriptions and delegations against a real agent service.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DelegateAnswer, Delegation, DelegationList } from '@svc/api/agent/delegations'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Signer } from '@svc/protocol/keys'
import { type AgentMarket, openAgentMarket } from '@svc/sdk/test/agents'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Settings } from '../../src/setup/settings.ts'
import { jsonDocument, jsonLines, openHome, type TestHome } from '../world.ts'

let market: AgentMarket
let home: TestHome
beforeAll(async () => {
  market = await openAgentMarket()
  const { proxy, agentProxy, chains } = market
  home = await openHome({
    SVC_GATEWAY: proxy.url,
    SVC_AGENT: agentProxy.url,
    SVC_PRIMARY_RPC: chains.primary.url,
    SVC_EVM_RPC: chains.evm.url,
  })
  const seed = DEMO_PAYERS[0]!.privateKeyBytes
  const wallet = join(home.folder, 'id.json')
  await writeFile(wallet, JSON.stringify([...seed, ...ed25519Signer(seed).publicKey]), { mode: 0o600 })
  await home.svc(['config', 'set', 'wallet', wallet])
  await home.svc(['keys', 'pin', market.key])
})
afterAll(async () => {
  await market.close()
  await home.leave()
})
afterEach(() => {
  market.proxy.behave()
  market.agentProxy.behave()
})

const svc = async (...args: string[]) => {
  const result = await home.svc(args)
  expect(result.exitCode, result.stderr + result.stdout).toBe(0)
  return result
}
const json = async <T = object>(...args: string[]) => jsonDocument<T>((await svc(...args, '--json')).stdout)
interface Operators {
  operators: string[]
}

/** The USDC that the agent service receives while `work` runs. */
async function received(work: () => Promise<void>): Promise<bigint> {
  const before = await market.agentTreasury('USDC')
  await work()
  return (await market.agentTreasury('USDC')) - before
}

async function newLocker(name: string): Promise<string> {
  const { receipt_id } = await market.locker(market.solana().signer)
  await svc('lockers', 'add', receipt_id, '--name', name)
  return receipt_id
}

describe('svc subscribe', () => {
  const subscribe = (answer: string) => home.svc(['subscribe', '--asset', 'USDC'], { stdin: answer, isTerminal: true })

  it('AGENT-04 must come before the first delegation, whose error suggests it', async () => {
    await newLocker('too-early')
    const { exitCode, stderr } = await home.svc(['delegate', 'too-early'])
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/no paid subscription.*\nhint:.*svc subscribe/)])
    expect((await svc('delegations')).stdout).toMatch(/subscription +none: `svc subscribe`/)
  })

  it('AGENT-02 AGENT-03 shows the price and asks; "no" pays nothing, "yes" buys thirty days, a second "yes" thirty more', async () => {
    const nothing = await received(async () => {
      const { exitCode, stderr } = await subscribe('n\n')
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/agent +30 days \(5 USD\)\npay +5 USDC\nto /)])
      expect(stderr).toContain('Nothing was paid')
    })
    expect(nothing).toBe(0n)
    const paid = await received(async () => {
      const { exitCode, stdout } = await subscribe('y\n')
      expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/paid +5 USDC .*\n(.*\n)*until +20\d\d-.* UTC/)])
      const more = await subscribe('y\n')
      expect(more.stderr).toMatch(/30 days \(5 USD\), from 20\d\d-.* UTC on, when the present ones end/)
    })
    expect(paid).toBe(10_000_000n)
  })

  it('PAY-52 resumes an unfinished purchase and never pays twice', async () => {
    const paid = await received(async () => {
      market.agentProxy.always(/confirm/, {
        answer: { status: 402, body: { error: 'payment_verification_failed', message: 'no', request_id: 'r' } },
      })
      const cut = await home.svc(['subscribe', '--asset', 'USDC', '--yes'])
      expect(cut).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('the agent service does not confirm') })
      market.agentProxy.behave()
      const { stderr } = await svc('subscribe', '--asset', 'USDC', '--yes')
      expect(stderr).toMatch(/Resuming.*nothing was paid now/s)
    })
    expect(paid).toBe(5_000_000n)
  })

  it('names the problem with an unknown asset, a missing service address or an invalid one', async () => {
    expect(await home.svc(['subscribe', '--asset', 'GOLD'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/does not accept GOLD\nhint: {2}it accepts SOL, USDC/),
    })
    const far = await home.svc(['subscribe', '--gateway', 'https://gateway.example'], { env: { SVC_AGENT: '' } })
    expect(far).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/not known\nhint: .*--agent, SVC_AGENT/) })
    expect(await home.svc(['config', 'set', 'agent', 'nowhere'])).toMatchObject({ exitCode: 2 })
    await svc('config', 'set', 'agent', 'https://agent.example/')
    const { settings } = await json<{ settings: Settings }>('config')
    expect(settings.agent).toMatchObject({ value: market.agentProxy.url, from: 'SVC_AGENT' })
  })
})

describe('svc delegate and svc delegations', () => {
  it('AGENT-04 give the agent access, show its runs, findings and signed log, and take the access away when the delegation ends', async () => {
    const receiptId = await newLocker('photos')
    const delegated = await svc('delegate', 'photos')
    const id = /dlg_\w+/.exec(delegated.stdout)?.[0] ?? ''
    expect(delegated.stdout).toMatch(/locker +locker_\w+ \(photos\)\nagent key +\w+\ntasks +watch every 24 h/)
    expect(delegated.stderr).toContain(`svc delegations ${id}`)
    const { operators } = await json<Operators>('operators', '--locker', 'photos')
    expect(delegated.stdout).toContain(operators[0])

    await market.work()
    await market.work(60)
    const table = (await svc('delegations')).stdout
    expect(table).toMatch(/subscription +until 20\d\d-/)
    expect(table).toMatch(
      new RegExp(`^${id} +locker_\\w+ +active +watch +1 +0 +20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d$`, 'm'),
    )

    await mkdir(join(home.folder, 'in'), { recursive: true })
    await writeFile(join(home.folder, 'in', 'a.txt'), 'A')
    await svc('put', join(home.folder, 'in'), '--locker', 'photos')
    await market.work(86_400)
    const { stdout } = await svc('delegations', id)
    expect(stdout).toMatch(/status +active: at work\n/)
    expect(stdout).toMatch(/RUN +TASK +OUTCOME +WHAT\n20.* watch +done +.*files 1/)
    expect(stdout).toMatch(/NO +FOUND +KIND +DETAIL\n +1 .* baseline .*\n +2 .* file_new +filename a\.txt/)
    expect(stdout).toContain(`2 findings, 0 alerts; none missing between, each signed by ${market.agentKey}`)
    expect((await json<Delegation>('delegations', id)).log).toHaveLength(2)
    const log = await svc('delegations', id, '--log')
    expect([log.stdout, log.stderr]).toEqual([
      expect.stringMatching(/^NO .*\n +1 .*\n +2 .*\n$/),
      expect.stringContaining('every signature holds'),
    ])
    expect(jsonLines((await svc('delegations', id, '--log', '--json')).stdout)).toMatchObject([
      { sequence: 1, kind: 'baseline' },
      { sequence: 2, kind: 'file_new' },
    ])

    expect(await json('delegations', '--end', id)).toMatchObject({ status: 'ended', key_removed: true })
    expect((await json<Operators>('operators', '--locker', 'photos')).operators).toEqual([])
    await svc('keys', 'pin', market.agentKey, '--gateway', market.agentProxy.url)
    expect((await svc('delegations', id)).stdout).toMatch(/status +ended(.*\n)*log .* signed by \w+ \(pinned\)/)
    expect((await json<DelegateAnswer>('delegate', receiptId, '--no-register')).delegation_id).not.toBe(id)
  })

  it('AGENT-04 remove no operator that the agent made up, and ask about a key that was registered elsewhere', async () => {
    await newLocker('contested')
    const { delegation_id: id, agent_pubkey } = await json<DelegateAnswer>('delegate', 'contested')
    const colleague = market.solana(2).signer.address
    await svc('operators', 'add', colleague, '--locker', 'contested')
    const operators = async () => (await json<Operators>('operators', '--locker', 'contested')).operators
    market.agentProxy.always(/delegations/, { lie: (ended: object) => ({ ...ended, agent_pubkey: colleague }) })
    expect(await home.svc(['delegations', '--end', id])).toMatchObject({ exitCode: 3 })
    expect(await operators()).toContain(colleague)
    market.agentProxy.behave()

    const env = { XDG_CONFIG_HOME: join(home.folder, 'elsewhere') }
    const end = ['delegations', '--end', id, '--json', '--wallet', join(home.folder, 'id.json')]
    expect(await home.svc(end, { env })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(agent_pubkey) })
    expect(await operators()).toContain(agent_pubkey)
    const confirmed = await home.svc([...end, '--yes'], { env })
    expect(jsonDocument(confirmed.stdout)).toMatchObject({ status: 'ended', key_removed: true })
    expect(await operators()).toEqual([colleague])
  })

  it('AGENT-04 accept tasks, and with --no-register leave it to the owner to register the key', async () => {
    await newLocker('mirrored')
    const { stdout, stderr } = await svc(
      ...['delegate', 'mirrored', '--no-register', '--no-watch', '--every', '6', '--tell', 'https://example.com/hook'],
      ...['--mirror', 'https://example.com/?a=1,2&b==from/query.csv', '--mirror', 'https://example.com/b=b'],
    )
    expect(stdout).toMatch(/tasks +mirror 2 files every 6 h, tell https:\/\/example.com\/hook\nsecret +whsec_/)
    const [, key = ''] = /`svc operators add (\w+) --locker rcpt_\w+`/.exec(stderr) ?? []
    expect((await json<Operators>('operators', '--locker', 'mirrored')).operators).toEqual([])
    const again = await json<DelegateAnswer>('delegate', 'mirrored')
    expect(again).toMatchObject({
      agent_pubkey: key,
      registered: true,
      tasks: {
        mirror: {
          sources: [
            { url: 'https://example.com/?a=1,2&b=', filename: 'from/query.csv' },
            { url: 'https://example.com/b', filename: 'b' },
          ],
          every_hours: 6,
        },
        tell: { url: 'https://example.com/hook' },
      },
    })
    expect((await json<Operators>('operators', '--locker', 'mirrored')).operators).toEqual([key])
    await svc('delegations', '--end', again.delegation_id)
  })

  it.each([
    ['that leaves nothing to do', ['delegate', '--no-watch'], 2],
    ['--end stands alone', ['delegations', 'dlg_1', '--end', 'dlg_2'], 2],
    ['is not the id of a delegation', ['delegations', '--end', '..'], 2],
    ['whose log?', ['delegations', '--log'], 2],
    ['tasks.tell.url: only port 443', ['delegate', '--tell', 'https://example.com:444/hook'], 1],
    ['svc delegations', ['delegations', `dlg_${'0'.repeat(32)}`], 1],
  ])('fail with the message "%s"', async (text, args, exitCode) => {
    const locker = ['--locker', 'photos']
    expect(await home.svc([...args, ...locker])).toMatchObject({ exitCode, stderr: expect.stringContaining(text) })
  })

  it('resume a delegation whose key the gateway did not register', async () => {
    await newLocker('twice')
    market.proxy.plan(/operators/, {
      answer: { status: 409, body: { error: 'OPERATOR_LIMIT_EXCEEDED', message: 'too many', request_id: 'r' } },
    })
    const { exitCode, stderr } = await home.svc(['delegate', 'twice'])
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/delegated, but .*too many\nhint: .*the same command/),
    ])
    const { delegations } = await json<DelegationList>('delegations')
    const { delegation_id } = await json<DelegateAnswer>('delegate', 'twice')
    expect(delegations).toContainEqual(expect.objectContaining({ delegation_id, status: 'pending' }))
    market.proxy.plan(/operators/, {
      answer: { status: 409, body: { error: 'OPERATOR_LIMIT_EXCEEDED', message: 'no', request_id: 'r' } },
    })
    const ended = await svc('delegations', '--end', delegation_id)
    expect([ended.stdout, ended.stderr]).toEqual([
      `${delegation_id} has ended\n`,
      expect.stringContaining('warning: its key may still act: no. `svc operators rm'),
    ])
  })

  it('reject a log that the agent service has altered', async () => {
    await newLocker('doubted')
    const { delegation_id } = await json<DelegateAnswer>('delegate', 'doubted')
    await market.work()
    await market.work(60)
    market.agentProxy.always(/delegations\/dlg/, {
      lie: (body: { log?: object[] }) => ({
        ...body,
        log: body.log?.map((finding) => ({ ...finding, kind: 'file_gone' })),
      }),
    })
    expect(await home.svc(['delegations', delegation_id])).toMatchObject({
      exitCode: 3,
      stdout: '',
      stderr: expect.stringContaining('the signature of entry 1 of the log does not hold'),
    })
  })
})
