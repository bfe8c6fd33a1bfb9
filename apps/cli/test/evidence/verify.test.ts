import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { receiptId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { signReceipt } from '@svc/protocol/receipt'
import { bundleOf } from '@svc/verifier/test/bundles'
import { CASES, CHAINS, type PackGiven, packBytes } from '@svc/verifier/test/pack'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }
import { jsonDocument, openHome, type RunOptions, type TestHome } from '../world.ts'

/** The part of the `--json` output that these tests read. */
interface Verified {
  ok: boolean
  verdict: string
  bundles: [
    {
      refused: { code: string } | null
      facts: Record<string, { value: string }>
      unchecked: string[]
      files: { counts: object }
    },
  ]
  chain: { sequences: number[]; from_start: boolean; problems: { code: string }[] }
}

const pack = (name: string) => fileURLToPath(new URL(`../../../../vectors/bundles/${name}`, import.meta.url))
const v2 = vectors.evidence_bundle_v2_example
const statementKey = vectors.keys.statement_signing.public_key_hex

let home: TestHome
let bundle: string
/** The recorded answers of the node at `rpcUrl`. */
let recorded: { method: string; params: unknown; result?: unknown; error?: object }[] = []
let rpcUrl: string
const node = createServer(async (request, response) => {
  const { method, params } = JSON.parse(await text(request))
  const question = JSON.stringify([method, params])
  const answer = recorded.find((one) => JSON.stringify([one.method, one.params]) === question)
  if (!answer) request.socket.destroy()
  else response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer.result, error: answer.error }))
})

beforeAll(async () => {
  home = await openHome()
  bundle = join(home.folder, 'bundle.json')
  await writeFile(bundle, JSON.stringify(v2))
  await once(node.listen(0, '127.0.0.1'), 'listening')
  rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
})
afterAll(async () => {
  node.close()
  node.closeAllConnections()
  await home.leave()
})

const verify = (args: string[], more?: RunOptions) => home.svc(['verify', ...args], more)

async function optionsFor(given: PackGiven): Promise<string[]> {
  const { pinned_keys, pinned_signers, domain_tag, log_keys, policy, files, rpc } = given
  const folder = await mkdtemp(join(home.folder, 'case-'))
  if (pinned_keys) {
    const list = Array.isArray(pinned_keys) ? pinned_keys.join('\n') : JSON.stringify(pinned_keys)
    await writeFile(join(folder, 'keys'), list)
  }
  if (policy) await writeFile(join(folder, 'policy'), policy)
  for (const [name, content] of Object.entries(files ?? {})) {
    const path = join(folder, 'files', name)
    // Skip names that no folder can hold.
    if (!path.startsWith(join(folder, 'files/')) || path.endsWith('/')) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content).catch(() => {})
  }
  if (files) await mkdir(join(folder, 'files'), { recursive: true })
  recorded = rpc ? JSON.parse(Buffer.from(await packBytes(rpc)).toString()) : []
  return [
    ...(pinned_keys ? ['--keys', join(folder, 'keys')] : []),
    ...(pinned_signers ?? []).flatMap((signer) => ['--signer', signer]),
    ...(domain_tag ? ['--domain-tag', domain_tag] : []),
    ...(log_keys ?? []).flatMap((key) => ['--log-key', key]),
    ...(policy ? ['--policy', join(folder, 'policy')] : []),
    ...(files ? ['--dir', join(folder, 'files')] : []),
    ...(rpc ? ['--rpc', rpcUrl] : []),
  ]
}

describe('svc verify on the conformance pack', () => {
  it('CLI-01 CLI-02 CLI-03 CLI-04 CLI-05 reports the expected facts of every case and exits with 0 only when none failed', {
    tags: ['nightly'],
  }, async () => {
    for (const { name, file, given, expect: expected } of CASES) {
      const { exitCode, stdout } = await verify([pack(file), '--json', ...(await optionsFor(given))])
      const { ok, verdict, bundles } = jsonDocument<Verified>(stdout)
      const { refused, facts } = bundles[0]
      const found = refused
        ? { refused: refused.code }
        : Object.fromEntries(Object.entries(facts).map(([fact, { value }]) => [fact, value]))
      expect(found, name).toEqual(expected)
      const isGood = !refused && !Object.values(expected).includes('failed')
      expect([exitCode, ok], name).toEqual([isGood ? 0 : 3, isGood])
      const isPinned = given.pinned_keys !== undefined && expected.key_pinned === 'passed'
      expect(verdict, name).toBe(isGood ? (isPinned ? 'verified' : 'signer_unknown') : 'failed')
    }
    expect(CASES.length).toBeGreaterThan(200)
  })

  it('EVID-11 CLI-04 reports the expected problems of every chain', async () => {
    for (const { what, files, given, expect: expected } of CHAINS.filter((chain) => chain.files.length > 1)) {
      const { exitCode, stdout } = await verify([...files.map(pack), '--json', ...(await optionsFor(given))])
      const { chain } = jsonDocument<Verified>(stdout)
      const problems = chain.problems.map(({ code }) => code)
      expect({ sequences: chain.sequences, from_start: chain.from_start, problems }, what).toEqual(expected)
      expect(exitCode, what).toBe(problems.length > 0 ? 3 : 0)
    }
  })
})

describe('the first line of svc verify', () => {
  const keyId = `ed25519:${statementKey.slice(0, 16)}`
  const firstLine = ({ stdout }: { stdout: string }) => stdout.slice(0, stdout.indexOf('\n'))

  async function lineOfCase(wanted: string, ...more: string[]): Promise<string> {
    const { file, given } = CASES.find(({ name }) => name === wanted)!
    return firstLine(await verify([pack(file), ...(await optionsFor(given)), ...more]))
  }

  it.each([
    ['v2', `VERIFIED: list of 4 files, signed by ${keyId} (pinned)`],
    ['v2-folder', `VERIFIED: 4 files match the folder, signed by ${keyId} (pinned)`],
    ['v1', `VERIFIED: list of 4 files, signed by ${keyId} (pinned)`],
    ['anchor-memo', `VERIFIED: list of 4 files, signed by ${keyId} (pinned), on chain 2026-06-12`],
    ['anchor-young', `VERIFIED: list of 4 files, signed by ${keyId} (pinned)`],
    ['anchor-oracle', `VERIFIED: list of 4 files, signed by ${keyId} (pinned)`],
    ['node-down', `VERIFIED: list of 4 files, signed by ${keyId} (pinned)`],
    ['redacted-chosen', `VERIFIED: readme.txt and 😀.png (2 of 4 files), signed by ${keyId} (pinned)`],
    ['redacted-chosen-folder', `VERIFIED: readme.txt and 😀.png (2 of 4 files) match the folder, signed by`],
    ['redacted-no-names', `VERIFIED: 4 files without names, signed by ${keyId} (pinned)`],
    ['redacted-no-names-folder', `VERIFIED: 4 files match the folder, signed by ${keyId} (pinned)`],
    [
      'log',
      `VERIFIED: list of 4 files, signed by ${keyId} (pinned), on chain 2026-06-12, in the log gateway.example/log, cosigned`,
    ],
  ])('CLI-04 says for %s what was verified, and no more', async (name, line) => {
    expect(await lineOfCase(name)).toContain(line)
  })

  it('CLI-04 ADD-37 says when a pinned key endorsed the one that signed', async () => {
    expect(await lineOfCase('keys-endorsed')).toMatch(/^VERIFIED: .* \(endorsed by a pinned key\)$/)
  })

  it.each([
    ['v2-not-pinned', `list of 4 files, signed by ${keyId} (not pinned)`],
    ['v1-not-pinned', `list of 4 files, signed by ${keyId} (not pinned)`],
    ['v1-retired-key', `list of 4 files, signed by ${keyId} (retired, at an unknown time)`],
  ])('CLI-04 EVID-19 says for %s that the signer is unknown', async (name, rest) => {
    expect(await lineOfCase(name)).toBe(`CONSISTENT BUT SIGNER UNKNOWN: ${rest}`)
  })

  it.each([
    ['folder-changed', 'readme.txt differs (files_match)'],
    ['folder-missing', 'readme.txt is missing (files_match)'],
    ['keys-of-stranger', 'key_pinned: the key that signed is not among the pinned keys'],
    [
      'list-renamed',
      'merkle_root_matches: the files have another Merkle root than the commitment; also envelope_binds',
    ],
    ['list-empty', 'not a bundle that can be checked: a bundle must list at least one file (empty_file_list)'],
    ['node-tx-failed', 'anchor_tx_succeeded: the transaction failed'],
  ])('CLI-04 names for %s what failed, and the file where one is at fault', async (name, why) => {
    expect(await lineOfCase(name)).toMatch(/^FAILED: /)
    expect(await lineOfCase(name)).toContain(`FAILED: ${why}`)
  })

  it('CLI-04 fails where a required fact was not checked', async () => {
    expect(await lineOfCase('v2-not-pinned', '--require', 'key_pinned')).toMatch(
      /^FAILED: key_pinned is required, and not_checked/,
    )
    const { stdout } = await verify([bundle, '--require', 'key_pinned', '--json'])
    expect(jsonDocument<Verified>(stdout)).toMatchObject({ ok: false, verdict: 'failed' })
  })

  it('CLI-04 names the gateway that the keys are pinned for', async () => {
    await home.svc(['keys', 'pin', statementKey])
    expect(firstLine(await verify([bundle]))).toBe(
      'VERIFIED: list of 3 files, signed by http://localhost:8402 (pinned)',
    )
    await rm(join(home.folder, 'config'), { recursive: true })
  })

  it('CLI-04 EVID-19 T-63 is not misled by names in evidence that anybody may have signed', async () => {
    const signed = bundleOf([
      {
        filename: 'a, signed by gateway.example (pinned)\nVERIFIED',
        size_bytes: 1,
        content_hash: 'ab'.repeat(32),
      },
      { filename: 'b', size_bytes: 1, content_hash: 'ab'.repeat(32) },
    ])
    const [file, redacted] = [join(home.folder, 'stranger.json'), join(home.folder, 'redacted.json')]
    await writeFile(file, JSON.stringify(signed))
    await home.svc(['bundle', '--redact', '--from', file, '--file', signed.files[0]!.filename, '-o', redacted])
    const { stdout, exitCode } = await verify([redacted])
    expect(exitCode).toBe(0)
    expect(firstLine({ stdout })).toMatch(
      /^CONSISTENT BUT SIGNER UNKNOWN: "a, signed by gateway\.example \(pinned\)\\u\{a\}VERIFIED" \(1 of 2 files\), signed by ed25519:\w{16} \(not pinned\)$/,
    )
    const own = await verify([file, '--keys', file])
    expect([own.exitCode, own.stderr]).toEqual([2, expect.stringContaining('schema is not')])
  })

  it('CLI-04 EVID-11 is one for several bundles', async () => {
    const lineOf = async (what: string) => {
      const { files, given } = CHAINS.find((chain) => chain.what === what)!
      return firstLine(await verify([...files.map(pack), ...(await optionsFor(given))]))
    }
    expect(await lineOf('three statements in their order')).toBe(
      `VERIFIED: unbroken chain of statements 1 to 3, signed by ${keyId} (pinned)`,
    )
    expect(await lineOf('nothing pinned')).toBe(
      `CONSISTENT BUT SIGNER UNKNOWN: unbroken chain of statements 1 to 3, signed by ${keyId} (not pinned)`,
    )
    expect(await lineOf('one is missing')).toBe('FAILED: statement 2 is missing')
    expect(await lineOf('a third by somebody else')).toMatch(/^FAILED: .*chain-strangers-3\.json: key_pinned: /)
  })
})

describe('svc verify with a log', () => {
  const { given } = CASES.find(({ name }) => name === 'log')!

  it('LOG-35 prints the facts, the place in the log, and which witness vouched when', async () => {
    const example = fileURLToPath(new URL('../../../../docs/examples/log.policy', import.meta.url))
    recorded = JSON.parse(Buffer.from(await packBytes(given.rpc!)).toString())
    const options = ['--policy', example, '--rpc', rpcUrl, '--require', 'log_included,log_cosigned']
    const { stdout, exitCode } = await verify([pack('log.json'), ...options])
    expect(exitCode).toBe(0)
    for (const fact of ['log_included', 'log_cosigned', 'log_anchored']) expect(stdout).toContain(`✓ ${fact}`)
    expect(stdout).toContain('log      entry 4 of 7 in gateway.example/log\n')
    expect(stdout).toContain('witness  w1.example/witness, 2026-06-12T00:00:01Z\n')
    const { bundles } = jsonDocument<{ bundles: [{ log: object }] }>(
      (await verify([pack('log.json'), ...options, '--json'])).stdout,
    )
    expect(bundles[0].log).toMatchObject({ index: 4, cosigned: [{ time: 1_781_222_401 }, {}] })
  })

  it('LOG-35 fails where a fact about the log is required and was not checked', async () => {
    const { stderr, exitCode } = await verify([pack('v2.json'), '--require', 'log_included'])
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('log_included is required, and not_checked')])
    const offline = await verify([pack('log.json'), '--require', 'log_anchored'])
    expect([offline.exitCode, offline.stderr]).toEqual([3, expect.stringContaining('--rpc URL')])
  })

  it('LOG-35 refuses keys and policies that it cannot read', async () => {
    const policy = join(home.folder, 'policy')
    await writeFile(policy, 'quorum w1\n')
    const witness = /witness w1 (\S+)/.exec(given.policy!)![1]!
    for (const [args, why] of [
      [['--policy', policy], 'line 1: w1 is not defined above'],
      [['--policy', `${policy}-none`], 'cannot be read as a policy'],
      [['--log-key', 'gateway.example'], 'a key is written as'],
      [['--log-key', witness], 'the key of a witness'],
    ] as const) {
      const { exitCode, stderr } = await verify([pack('log.json'), ...args])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)])
    }
  })
})

describe('svc verify', () => {
  it('CLI-02 shows each fact with its mark and reason, the signing key, and where the trusted keys come from', async () => {
    const { exitCode, stdout } = await verify([bundle, '--keys', statementKey])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^✓ signature_valid$/m)
    expect(stdout).toMatch(/^✓ key_pinned$/m)
    expect(stdout).toMatch(/^– files_match +not checked: no files were given$/m)
    expect(stdout).toMatch(/^– anchor_finalized +not checked: no node was asked$/m)
    expect(stdout).toContain(`signed by  ${statementKey}, pinned`)
    expect(stdout).toContain('trusted    given by --keys')
  })

  it('EVID-19 does not treat the key inside the bundle as pinned, and fails when the signer is not a pinned key', async () => {
    expect((await verify([bundle])).stdout).toMatch(/not pinned\ntrusted +no keys/)
    const stranger = Buffer.from(ed25519Signer(Buffer.alloc(32, 8)).publicKey).toString('hex')
    const { exitCode, stdout, stderr } = await verify([bundle, '--keys', stranger])
    expect([exitCode, stdout]).toEqual([3, expect.stringMatching(/^✗ key_pinned +failed: .*not among/m)])
    expect(stderr).toContain('verification failed: key_pinned')
  })

  it('CLI-01 accepts keys from several sources and shows the age of a key file', async () => {
    const file = join(home.folder, 'keys.json')
    await writeFile(file, JSON.stringify(vectors.signing_keys_example))
    const { stdout } = await verify(['--keys', `${vectors.keys.short_url.public_key_hex},${file}`, bundle])
    expect(stdout).toMatch(/trusted +given by --keys, given by .*keys\.json, written \d+ \w+ ago/)
  })

  it('CLI-01 uses the keys pinned for the gateway and shows when they were pinned', async () => {
    const pinned = await home.svc(['keys', 'pin', statementKey])
    expect(pinned.exitCode).toBe(0)
    const { stdout } = await verify([bundle])
    expect(stdout).toMatch(/trusted +pinned \d+ seconds? ago for http:\/\/localhost:8402 \(.*\.json\)/)
    expect((await verify([bundle], { env: { SVC_GATEWAY: 'https://other.example' } })).stdout).toContain('no keys')
    const other = await home.svc(['keys', 'pin', vectors.keys.short_url.public_key_hex])
    expect([other.exitCode, other.stderr]).toEqual([3, expect.stringContaining('other keys have been pinned')])
    await rm(join(home.folder, 'config'), { recursive: true })
  })

  it('CLI-04 fails when a fact named by --require was not checked', async () => {
    expect((await verify([bundle, '--require', 'signature_valid'])).exitCode).toBe(0)
    const { exitCode, stderr } = await verify([bundle, '--require', 'signature_valid,key_pinned'])
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('key_pinned is required, and not_checked')])
  })

  it('CLI-04 fails when a required fact could not be asked for, and names the node and the reason', async () => {
    const closed = createServer()
    await once(closed.listen(0, '127.0.0.1'), 'listening')
    const node = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
    await new Promise((resolve) => closed.close(resolve))
    const warned = await verify([bundle, '--rpc', node])
    expect(warned).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('the node could not be asked') })
    const { exitCode, stderr } = await verify([bundle, '--rpc', node, '--require', 'anchor_finalized'])
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringMatching(/anchor_finalized is required, and unavailable \(.*127\.0\.0\.1:\d+: nothing listens/),
    ])
    expect(stderr).toContain(`is ${node} a node of the primary chain`)
    const without = await verify([bundle, '--require', 'anchor_finalized'])
    expect(without).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('need a node: --rpc') })
  })

  it('CLI-02 names every missing and every extra file', async () => {
    const folder = await mkdtemp(join(home.folder, 'dir-'))
    await writeFile(join(folder, 'extra\u001b[2J'), '')
    const { exitCode, stdout } = await verify([bundle, '--dir', folder])
    expect(exitCode).toBe(3)
    for (const { filename } of v2.files) expect(stdout).toMatch(new RegExp(`^missing +${filename}$`, 'm'))
    expect(stdout).toMatch(/^extra +extra\\u\{1b\}\[2J$/m)
    const allowing = await verify([bundle, '--dir', folder, '--allow-extra', '--json'])
    expect(jsonDocument<Verified>(allowing.stdout).bundles[0].files.counts).toMatchObject({
      missing: v2.files.length,
      extra: 0,
    })
  })

  it('CLI-02 allows extra files that --exclude matches, and no others', async () => {
    const folder = await mkdtemp(join(home.folder, 'dir-'))
    await mkdir(join(folder, 'cache'))
    for (const name of ['.DS_Store', 'cache/x', 'extra']) await writeFile(join(folder, name), '')
    await writeFile(join(home.folder, 'ignore'), 'cache/\n')
    const args = [bundle, '--dir', folder, '--exclude', '.*', '--exclude-from', join(home.folder, 'ignore'), '--json']
    expect(jsonDocument<Verified>((await verify(args)).stdout).bundles[0].files.counts).toMatchObject({ extra: 1 })
  })

  it('reads a bundle from standard input', async () => {
    expect((await verify(['-'], { stdin: JSON.stringify(v2) })).exitCode).toBe(0)
    expect((await verify(['-'], { stdin: '{' })).exitCode).toBe(3)
  })

  it('T-38 T-51 PAY-56 checks a receipt against the pinned keys and the bundle', async () => {
    const signer = ed25519Signer(Buffer.alloc(32, 7))
    const key = Buffer.from(signer.publicKey).toString('hex')
    const ids = { pay_req_id: 'pr_1', tx_hash: '0xab' }
    const unsigned = {
      ...{ ...ids, receipt_id: receiptId(ids.pay_req_id, ids.tx_hash), paid_amount: '1', paid_raw: '1' },
      ...{ pay_asset: 'USDC', network: 'evm-mainnet', block_number: 1, sig_alg: 'secp256k1' as const, units: 1 },
      ...{ payer_pubkey: '0xcd', confirmed_at: '2026-06-12T00:00:00Z', result_hash: '' },
    }
    const receipt = signReceipt(unsigned, signer)
    await writeFile(join(home.folder, 'linked.json'), JSON.stringify({ ...v2, receipt_id: receipt.receipt_id }))
    const file = join(home.folder, 'receipt.json')
    const valuesWith = async (changed: object, bundleOf = receipt.receipt_id) => {
      await writeFile(file, JSON.stringify({ ...receipt, ...changed }))
      const ours = join(home.folder, 'ours.json')
      await writeFile(ours, JSON.stringify({ ...v2, receipt_id: bundleOf }))
      const { exitCode, stdout } = await verify([ours, '--json', '--receipt', file, '--keys', `${statementKey},${key}`])
      const [{ facts }] = jsonDocument<Verified>(stdout).bundles
      const failed = Object.entries(facts).filter(([name, { value }]) => /^receipt_/.test(name) && value === 'failed')
      return [exitCode, ...failed.map(([name]) => name)]
    }
    expect(await valuesWith({})).toEqual([0])
    expect(await valuesWith({ units: 1.5 })).toEqual([3, 'receipt_signature_valid'])
    expect(await valuesWith({ paid_amount: '2' })).toEqual([3, 'receipt_signature_valid'])
    expect(await valuesWith({ tx_hash: '0xef' })).toEqual([3, 'receipt_signature_valid', 'receipt_id_matches'])
    expect(await valuesWith({ receipt_signer_pubkey: '00' })).toEqual([
      3,
      'receipt_signature_valid',
      'receipt_key_pinned',
    ])
    expect(await valuesWith({}, 'rcpt_other')).toEqual([3, 'receipt_is_of_bundle'])
    expect((await verify([bundle, '--receipt', bundle])).exitCode).toBe(2)
    const unlinked = await verify([
      join(home.folder, 'linked.json'),
      '--receipt',
      file,
      '--keys',
      `${statementKey},${key}`,
    ])
    expect(unlinked.stdout).toMatch(/^VERIFIED: .*, not shown to be of the given receipt\n/)
    expect(await linkOf(receipt)).toEqual(['not_checked', true, 3])
    expect(await linkOf(signReceipt({ ...unsigned, proof_id: v2.proof_id }, signer))).toEqual(['passed', false, 0])
    expect(await linkOf(signReceipt({ ...unsigned, proof_id: '0f'.repeat(16) }, signer))).toEqual(['failed', true, 3])

    /** The value of the fact, whether the bundle's receipt_id stays unchecked, and the exit code where it is required. */
    async function linkOf(shown: object) {
      await writeFile(file, JSON.stringify(shown))
      const keys = ['--receipt', file, '--keys', `${statementKey},${key}`, '--require', 'receipt_is_of_bundle']
      const { exitCode, stdout } = await verify([join(home.folder, 'linked.json'), '--json', ...keys])
      const [{ facts, unchecked }] = jsonDocument<Verified>(stdout).bundles
      const [line] = (await verify([join(home.folder, 'linked.json'), ...keys])).stdout.split('\n')
      expect(/^VERIFIED: .*, of the given receipt$/.test(line!)).toBe(exitCode === 0)
      return [facts.receipt_is_of_bundle?.value, unchecked.includes('receipt_id'), exitCode]
    }
  })

  it('T-38 CLI-04 fails when a fact about a receipt is required and none is given', async () => {
    const { exitCode, stderr } = await verify([bundle, '--require', 'receipt_is_of_bundle'])
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringContaining('receipt_is_of_bundle is required, and not_checked'),
    ])
  })

  it('T-51 names the fields that no fact covers', async () => {
    const { stdout } = await verify([bundle])
    expect(stdout).toContain(
      'not covered by any check: receipt_id, network, verification, signing_keys, how_to_verify, anchor',
    )
  })

  it.each([
    ['a bundle that does not exist', ['/nowhere.json'], 'cannot be read'],
    ['AMB-01 a domain tag of 23 characters', ['BUNDLE', '--domain-tag', 'SVC_CONTENT_ENVELOPE_V2'], '25 printable'],
    ['a --dir that is not a folder', ['BUNDLE', '--dir', '/nowhere'], 'not a folder'],
    ['a key id in place of a key', ['BUNDLE', '--keys', 'ed25519:0011223344556677'], 'too short to pin'],
    ['a key file that does not exist', ['BUNDLE', '--keys', 'nowhere'], 'neither a key in hex nor a file'],
    ['an unknown fact', ['BUNDLE', '--require', 'verified'], 'no fact'],
    ['an --rpc that is not a URL', ['BUNDLE', '--rpc', 'node'], 'not the address'],
    ['one --dir for two bundles', ['BUNDLE', 'BUNDLE', '--dir', '/tmp'], 'take one bundle'],
  ])('CLI-01 %s is rejected with exit code 2', async (_, args, why) => {
    const { exitCode, stderr } = await verify(args.map((arg) => (arg === 'BUNDLE' ? bundle : arg)))
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)])
  })
})
