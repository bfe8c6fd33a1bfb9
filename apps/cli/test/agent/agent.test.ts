// Subscriptions and delegations against a real agent service.

import type { DelegateAnswer, Delegation, DelegationList } from '@svc/api/agent/delegations'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { useAgentMarket } from '@svc/sdk/test/agents'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Settings } from '../../src/setup/settings.ts'
import { exits, includes, jsonDocument, jsonLines } from '../host.ts'
import { newWallet, useBuyerHome } from '../locker.ts'

const market = useAgentMarket()
const home = useBuyerHome(market, () => ({ SVC_AGENT: market.agentProxy.url }))

/** The USDC that the agent service receives while `work` runs. */
async function received(work: () => Promise<void>): Promise<bigint> {
  const before = await market.agentTreasury('USDC')
  await work()
  return (await market.agentTreasury('USDC')) - before
}

async function newLocker(name: string): Promise<string> {
  const { receipt_id } = await market.locker(market.solana().signer)
  await home.ok('lockers', 'add', receipt_id, '--name', name)
  return receipt_id
}

const operators = async (locker: string) =>
  (await home.json<{ operators: string[] }>('operators', '--locker', locker)).operators

describe('svc subscribe', () => {
  it('AGENT-04 must come before the first delegation, whose error suggests it', async () => {
    const { file, signer } = await newWallet(home.folder, 'other.json')
    const { receipt_id } = await market.locker(signer)
    const refused = await home.svc(['delegate', receipt_id, '--wallet', file])
    expect(refused).toMatchObject(exits(1, /no paid subscription.*\nhint:.*svc subscribe/))
    const { stdout } = await home.ok('delegations', '--wallet', file)
    expect(stdout).toMatch(/subscription +none: `svc subscribe`/)
  })

  it('AGENT-02 AGENT-03 shows the price and asks; "no" pays nothing, "yes" buys thirty days, a second "yes" thirty more', {
    tags: ['nightly'],
  }, async () => {
    const { file } = await newWallet(home.folder, 'subscriber.json', DEMO_PAYERS[1]!.privateKeyBytes)
    const subscribe = (stdin: string) =>
      home.svc(['subscribe', '--asset', 'USDC', '--wallet', file], { stdin, isTerminal: true })
    const nothing = await received(async () => {
      expect(await subscribe('n\n')).toMatchObject(
        exits(1, /agent +30 days \(5 USD\)\npay +5 USDC\nto [\s\S]*Nothing was paid/),
      )
    })
    const paid = await received(async () => {
      const { exitCode, stdout } = await subscribe('y\n')
      expect([exitCode, stdout]).toEqual([0, includes(/paid +5 USDC .*\n(.*\n)*until +20\d\d-.* UTC/)])
      const more = await subscribe('y\n')
      expect(more.stderr).toMatch(/30 days \(5 USD\), from 20\d\d-.* UTC on, when the current period ends/)
    })
    expect([nothing, paid]).toEqual([0n, 10_000_000n])
  })

  it('names the problem with an unknown asset, a missing service address or an invalid one', async () => {
    const gold = await home.svc(['subscribe', '--asset', 'GOLD'])
    expect(gold).toMatchObject(exits(2, /does not accept GOLD\nhint: {2}it accepts SOL, USDC/))
    const far = await home.svc(['subscribe', '--gateway', 'https://gateway.example'], { env: { SVC_AGENT: '' } })
    expect(far).toMatchObject(exits(2, /not known\nhint: .*--agent, SVC_AGENT/))
    expect(await home.svc(['config', 'set', 'agent', 'nowhere'])).toMatchObject({ exitCode: 2 })
    await home.ok('config', 'set', 'agent', 'https://agent.example/')
    const { settings } = await home.json<{ settings: Settings }>('config')
    expect(settings.agent).toMatchObject({ value: market.agentProxy.url, from: 'SVC_AGENT' })
  })
})

describe('svc delegate and svc delegations', () => {
  beforeAll(() => home.ok('subscribe', '--asset', 'USDC', '--yes'))

  it('AGENT-04 give the agent access, show its runs, findings and signed log, and revoke access when the delegation ends', async () => {
    await newLocker('photos')
    const delegated = await home.ok('delegate', 'photos')
    const id = /dlg_\w+/.exec(delegated.stdout)?.[0] ?? ''
    expect(delegated.stdout).toMatch(/locker +locker_\w+ \(photos\)\nagent key +\w+\ntasks +watch every 24 h/)
    expect(delegated.stderr).toContain(`svc delegations ${id}`)
    expect(delegated.stdout).toContain((await operators('photos'))[0])

    await market.work()
    await market.work(60)
    const table = (await home.ok('delegations')).stdout
    expect(table).toMatch(/subscription +until 20\d\d-/)
    const date = String.raw`20\d\d-\d\d-\d\d \d\d:\d\d UTC`
    expect(table).toMatch(new RegExp(`^${id} +locker_\\w+ +active +watch +1 +0 +${date}$`, 'm'))

    await home.ok('put', await home.write('in', { 'a.txt': 'A' }), '--locker', 'photos')
    await market.work(86_400)
    const { stdout } = await home.ok('delegations', id)
    expect(stdout).toMatch(/status +active: at work\n/)
    expect(stdout).toMatch(/RUN +TASK +OUTCOME +WHAT\n20.* watch +done +.*files 1/)
    expect(stdout).toMatch(/NO +FOUND +KIND +DETAIL\n +1 .* baseline .*\n +2 .* file_new +filename a\.txt/)
    expect(stdout).toContain(`2 findings, 0 alerts; none is missing, each is signed by ${market.agentKey}`)
    expect((await home.json<Delegation>('delegations', id)).log).toHaveLength(2)
    const log = await home.ok('delegations', id, '--log')
    expect(log).toMatchObject({
      stdout: includes(/^NO .*\n +1 .*\n +2 .*\n$/),
      stderr: includes('every signature is valid'),
    })
    const lines = jsonLines((await home.ok('delegations', id, '--log', '--json')).stdout)
    expect(lines).toMatchObject([{ kind: 'baseline' }, { sequence: 2, kind: 'file_new' }])

    expect(await home.json('delegations', '--end', id)).toMatchObject({ status: 'ended', key_removed: true })
    expect(await operators('photos')).toEqual([])
    await home.ok('keys', 'pin', market.agentKey, '--gateway', market.agentProxy.url)
    expect((await home.ok('delegations', id)).stdout).toMatch(/status +ended(.*\n)*log .* signed by \w+ \(pinned\)/)
  })

  it('AGENT-04 do not remove an operator that the agent invented, and ask about a key that was registered elsewhere', async () => {
    await newLocker('contested')
    const { delegation_id: id, agent_pubkey } = await home.json<DelegateAnswer>('delegate', 'contested')
    const colleague = market.solana(2).signer.address
    await home.ok('operators', 'add', colleague, '--locker', 'contested')
    market.agentProxy.always(/delegations/, { lie: (ended: object) => ({ ...ended, agent_pubkey: colleague }) })
    expect(await home.svc(['delegations', '--end', id])).toMatchObject({ exitCode: 3 })
    expect(await operators('contested')).toContain(colleague)
    market.agentProxy.behave()

    const env = { XDG_CONFIG_HOME: home.path('elsewhere') }
    const end = ['delegations', '--end', id, '--json', '--wallet', home.path('id.json')]
    expect(await home.svc(end, { env })).toMatchObject(exits(2, agent_pubkey))
    expect(await operators('contested')).toContain(agent_pubkey)
    const confirmed = await home.svc([...end, '--yes'], { env })
    expect(jsonDocument(confirmed.stdout)).toMatchObject({ status: 'ended', key_removed: true })
    expect(await operators('contested')).toEqual([colleague])
  })

  it('AGENT-04 accept tasks, and with --no-register do not register the key', async () => {
    await newLocker('mirrored')
    const { stdout, stderr } = await home.ok(
      ...['delegate', 'mirrored', '--no-register', '--no-watch', '--every', '6', '--tell', 'https://example.com/hook'],
      ...['--mirror', 'https://example.com/?a=1,2&b==from/query.csv', '--mirror', 'https://example.com/b=b'],
    )
    expect(stdout).toMatch(/tasks +mirror 2 files every 6 h, tell https:\/\/example.com\/hook\nsecret +whsec_/)
    const [, key = ''] = /`svc operators add (\w+) --locker rcpt_\w+`/.exec(stderr) ?? []
    expect(await operators('mirrored')).toEqual([])
    const sources = [
      { url: 'https://example.com/?a=1,2&b=', filename: 'from/query.csv' },
      { url: 'https://example.com/b', filename: 'b' },
    ]
    const tasks = { mirror: { sources, every_hours: 6 }, tell: { url: 'https://example.com/hook' } }
    expect(await home.json('delegate', 'mirrored')).toMatchObject({ agent_pubkey: key, registered: true, tasks })
    expect(await operators('mirrored')).toEqual([key])
  })

  it.each([
    ['this delegation has no task', ['delegate', '--no-watch'], 2],
    ['--end cannot be combined', ['delegations', 'dlg_1', '--end', 'dlg_2'], 2],
    ['is not the id of a delegation', ['delegations', '--end', '..'], 2],
    ['--log needs a delegation', ['delegations', '--log'], 2],
    ['tasks.tell.url: the port must be 443', ['delegate', '--tell', 'https://example.com:444/hook'], 1],
    ['svc delegations', ['delegations', `dlg_${'0'.repeat(32)}`], 1],
  ])('fail with the message "%s"', async (text, args, exitCode) => {
    const { receipt_id } = await market.locker(market.solana().signer)
    expect(await home.svc([...args, '--locker', receipt_id])).toMatchObject(exits(exitCode, text))
  })

  it('resume a delegation whose key the gateway did not register', async () => {
    await newLocker('twice')
    const body = { error: 'OPERATOR_LIMIT_EXCEEDED', message: 'too many', request_id: 'r' }
    market.proxy.plan(/operators/, { answer: { status: 409, body } })
    const cut = await home.svc(['delegate', 'twice'])
    expect(cut).toMatchObject(exits(1, /delegated, but .*too many\nhint: .*the same command/))
    const { delegations } = await home.json<DelegationList>('delegations')
    const { delegation_id } = await home.json<DelegateAnswer>('delegate', 'twice')
    expect(delegations).toContainEqual(expect.objectContaining({ delegation_id, status: 'pending' }))
    market.proxy.plan(/operators/, { answer: { status: 409, body } })
    const ended = await home.ok('delegations', '--end', delegation_id)
    expect(ended.stdout).toBe(`${delegation_id} has ended\n`)
    expect(ended.stderr).toContain('warning: its key may still act: too many. `svc operators rm')
  })
})
