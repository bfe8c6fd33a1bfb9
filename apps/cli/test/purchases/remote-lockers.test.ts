// A machine that has only the wallet.

import { readFile, writeFile } from 'node:fs/promises'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { type ListedLocker, lockerOf, type Signer } from '@svc/sdk'
import { newEd25519, useTestbed } from '@svc/sdk/test/lockers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KnownLocker } from '../../src/setup/known-lockers.ts'
import { exits, jsonDocument, jsonLines, openHome, type TestHome } from '../host.ts'
import { newWallet } from '../locker.ts'

type Found = ListedLocker & { name: string | null; added: boolean; known_at?: string }

const testbed = useTestbed()
let home: TestHome
let wallet: Awaited<ReturnType<typeof newWallet>>
beforeEach(async () => {
  home = await openHome({ SVC_GATEWAY: testbed.proxy.url })
  wallet = await newWallet(home.folder, 'id.json')
  await home.svc(['config', 'set', 'wallet', wallet.file])
})
afterEach(() => home.leave())

const paid = async (tags?: string[]) => {
  const { receipt_id } = await seedReceipt(testbed.gateway.context, { owner: wallet.signer.address })
  if (tags) await testbed.client({ signer: wallet.signer }).provision(receipt_id, { tags })
  return receipt_id
}
/** A locker of another owner, who makes the wallet an operator. */
const shared = async (owner: Signer, tags: string[]) => {
  const { receipt_id } = await seedReceipt(testbed.gateway.context, { owner: owner.address })
  const locker = await testbed.client({ signer: owner }).provision(receipt_id, { tags })
  await testbed.client({ signer: owner }).addOperator(locker, wallet.signer.address)
  return receipt_id
}
const remote = async () => jsonLines<Found>((await home.svc(['lockers', '--remote', '--json'])).stdout)
const known = async () => jsonLines<KnownLocker>((await home.svc(['lockers', '--json'])).stdout)

describe('svc lockers --remote', () => {
  it('ADD-16 finds the lockers of the wallet, and names them for other commands', async () => {
    const photos = await paid(['name:photos'])
    const twin = await paid(['x', 'name:photos'])
    const plain = await paid([])
    const { exitCode, stdout, stderr } = await home.svc(['lockers', '--remote'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^NAME +LOCKER +ROLE/)
    expect(stderr).toContain('3 lockers added here')
    const names = new Map((await known()).map(({ receipt_id, name }) => [receipt_id, name]))
    expect([names.get(photos), names.get(twin)].sort()).toEqual(['photos', 'photos-2'])
    expect(names.get(plain)).toMatch(/^gcs-\d{4}-\d\d-\d\d$/)
    for (const name of names.values()) expect((await home.svc(['ls', '-l', name!])).exitCode).toBe(0)
    expect((await remote()).map(({ added }) => added)).toEqual([false, false, false])
  })

  it('ADD-16 STATE-05 shows lockers that were paid but never opened, and how to open them', async () => {
    const receipt = await paid()
    const { stdout, stderr } = await home.svc(['lockers', '--remote'])
    expect(stdout).toContain('not opened')
    expect(stderr).toContain(`svc provision ${receipt}`)
    await home.svc(['lockers', 'add', receipt, '--name', 'late'])
    const opened = jsonDocument<{ tags: string[] }>((await home.svc(['provision', receipt, '--json'])).stdout)
    expect(opened.tags).toEqual(['name:late'])
    expect(await known()).toMatchObject([{ receipt_id: receipt, name: 'late', owner: wallet.signer.address }])
    expect(await remote()).toMatchObject([{ receipt_id: receipt, opened: true, name: 'late' }])
  })

  it("ADD-16 never gives a locker of another wallet the name of one of the user's lockers", async () => {
    const own = await paid(['name:photos'])
    const other = newEd25519()
    const theirs = await shared(other, ['name:photos'])
    const { stdout, stderr } = await home.svc(['lockers', '--remote'])
    expect(stdout).toMatch(/^NAME(.*\n)+photos (.*\n)+Lockers of others that you operate:\nNAME(.*\n)+- /)
    expect(stdout).toContain(other.address)
    expect(stderr).toContain('svc lockers add RECEIPT --name NAME')
    expect(await known()).toMatchObject([{ receipt_id: own, name: 'photos' }])
    const file = home.path('a.txt')
    await writeFile(file, 'A')
    expect(await home.svc(['put', '-l', 'photos', file])).toMatchObject({ exitCode: 0 })
    expect(await testbed.client({ signer: other }).metadata(lockerOf(theirs))).toMatchObject({ file_count: 0 })
  })

  it('ADD-16 signs for a locker of another owner that the user has added, even with a second wallet', async () => {
    const theirs = await shared(newEd25519(), ['name:theirs'])
    expect(await remote()).toMatchObject([{ role: 'operator', name: null, added: false }])
    await home.svc(['lockers', 'add', theirs, '--name', 'team'])
    expect(await remote()).toMatchObject([{ role: 'operator', name: 'team', added: false }])
    const SVC_EVM_KEY = `0x${'11'.repeat(32)}`
    expect(await home.svc(['ls', '-l', 'team'], { env: { SVC_EVM_KEY } })).toMatchObject({ exitCode: 0 })
  })

  it("ADD-16 ignores names of other owners' lockers that 1.1.0 remembered until the user adds them", async () => {
    const own = await paid(['name:photos'])
    const theirs = await shared(newEd25519(), ['name:photos'])
    await home.svc(['lockers', 'add', theirs, '--name', 'photos'])
    const file = home.path('config', 'svc', 'lockers', `${theirs}.json`)
    const before = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...before, owner: 'someone', operator: wallet.signer.address }))
    const ls = await home.svc(['ls', '-l', 'photos'])
    expect(ls).toMatchObject(exits(2, `svc lockers add ${theirs} --name NAME`))
    expect((await home.svc(['ls', '-l', theirs])).exitCode).toBe(0)
    await remote()
    expect((await home.svc(['stat', '-l', 'photos', 'none'])).stderr).not.toContain('only operate')
    const names = () => known().then((all) => new Map(all.map(({ receipt_id, name }) => [receipt_id, name])))
    expect((await names()).get(own)).toBe('photos')
    await home.svc(['lockers', 'add', theirs, '--name', 'team'])
    expect((await names()).get(theirs)).toBe('team')
    expect((await home.svc(['ls', '-l', 'team'])).exitCode).toBe(0)
  })

  it('ADD-16 rejects names that would mislead a command or the terminal', async () => {
    const victim = await paid(['name:kept'])
    await home.svc(['lockers', 'add', victim, '--name', 'mine'])
    for (const name of [victim, '\u001b[2Jx', '-rf', 'mine']) await paid([`name:${name}`])
    const names = (await remote()).map(({ name }) => name!)
    expect(new Set(names).size).toBe(5)
    expect(names).toEqual(expect.arrayContaining(['mine', 'mine-2']))
    for (const name of names) expect(name).toMatch(/^(mine|gcs-)[\d-]*$/)
  })

  it('ADD-16 never uses a receipt of one gateway at another', async () => {
    const receipt = await paid(['name:photos'])
    await home.svc(['lockers', 'add', receipt, '--gateway', 'https://other.example', '--name', 'theirs'])
    expect(await home.svc(['lockers', 'add', receipt, '--name', 'a/b'])).toMatchObject({ exitCode: 2 })
    const { stderr } = await home.svc(['lockers', '--remote'])
    expect(stderr).toContain('known here as a locker of https://other.example')
    expect(await known()).toMatchObject([{ gateway: 'https://other.example', name: 'theirs' }])
    expect(await remote()).toMatchObject([{ name: null, added: false, known_at: 'https://other.example' }])
  })

  it('ADD-16 PAY-52 does not buy a name again that was bought on a lost machine', async () => {
    await paid(['name:photos'])
    await remote()
    const { exitCode, stderr } = await home.svc(['buy', '--name', 'photos', '--asset', 'USDC', '--yes'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the locker photos already exists')])
  })

  it('ADD-16 reports that there is no locker, no wallet, or an older gateway', async () => {
    expect((await home.svc(['lockers', '--remote'])).stderr).toContain('owns and operates no locker')
    const env = { XDG_CONFIG_HOME: home.path('empty') }
    expect(await home.svc(['lockers', '--remote'], { env })).toMatchObject(exits(2, 'needs a wallet'))
    testbed.proxy.always(/v1\/lockers\?/, {
      answer: { status: 404, body: { error: 'not_found', message: 'no such path', request_id: 'r' } },
    })
    expect(await home.svc(['lockers', '--remote'])).toMatchObject(exits(1, 'cannot list the lockers of a wallet'))
    expect(await home.svc(['ls'])).toMatchObject(exits(2, 'svc lockers --remote'))
  })
})

describe('svc provision', () => {
  it('LOCK-09 keeps the local name of the locker, or the name of its purchase', async () => {
    const receipt = await paid()
    await home.svc(['provision', receipt, '--name', 'first'])
    await home.svc(['provision', receipt])
    expect(await known()).toMatchObject([{ name: 'first' }])
    await home.svc(['lockers', 'rm', receipt])
    const { stdout } = await home.svc(['provision', receipt])
    expect(stdout).toContain('(first)')
    expect(await known()).toMatchObject([{ name: 'first' }])
  })
})
