import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
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
import { exits, includes, jsonDocument, type RunOptions, useHome } from '../host.ts'

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
}

const pack = (name: string) => fileURLToPath(new URL(`../../../../vectors/bundles/${name}`, import.meta.url))
const v2 = vectors.evidence_bundle_v2_example
const statementKey = vectors.keys.statement_signing.public_key_hex

const home = useHome()
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
  bundle = home.path('bundle.json')
  await writeFile(bundle, JSON.stringify(v2))
  await once(node.listen(0, '127.0.0.1'), 'listening')
  rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
})
afterAll(() => {
  node.close()
  node.closeAllConnections()
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

/** A case of the conformance pack for each combination of options. */
const SAMPLES = Map.groupBy(CASES, ({ given }) => Object.keys(given).join()).values()

describe('svc verify on the conformance pack', () => {
  it.each([...SAMPLES].map(([sample]) => sample!))(
    'CLI-01 CLI-05 reports the expected facts of $name and exits with 0 only when none failed',
    async ({ file, given, expect: expected }) => {
      const { exitCode, stdout } = await verify([pack(file), '--json', ...(await optionsFor(given))])
      const { ok, verdict, bundles } = jsonDocument<Verified>(stdout)
      const { refused, facts } = bundles[0]
      const found = refused
        ? { refused: refused.code }
        : Object.fromEntries(Object.entries(facts).map(([fact, { value }]) => [fact, value]))
      expect(found).toEqual(expected)
      const isGood = !refused && !Object.values(expected).includes('failed')
      expect([exitCode, ok]).toEqual([isGood ? 0 : 3, isGood])
      const isPinned = given.pinned_keys !== undefined && expected.key_pinned === 'passed'
      expect(verdict).toBe(isGood ? (isPinned ? 'verified' : 'signer_unknown') : 'failed')
    },
  )
})

describe('the first line of svc verify', () => {
  const keyId = `ed25519:${statementKey.slice(0, 16)}`
  const firstLine = ({ stdout }: { stdout: string }) => stdout.slice(0, stdout.indexOf('\n'))

  async function lineOfCase(wanted: string, ...more: string[]): Promise<string> {
    const { file, given } = CASES.find(({ name }) => name === wanted)!
    return firstLine(await verify([pack(file), ...(await optionsFor(given)), ...more]))
  }

  const verified = (what: string, more = '') => `VERIFIED: ${what}, signed by ${keyId} (pinned)${more}`
  const unknown = (why: string) => `CONSISTENT BUT SIGNER UNKNOWN: list of 4 files, signed by ${keyId} (${why})`

  it.each([
    ['v2', verified('list of 4 files')],
    ['v2-folder', verified('4 files match the folder')],
    ['v1', verified('list of 4 files')],
    ['anchor-memo', verified('list of 4 files', ', on chain 2026-06-12')],
    ['redacted-chosen', verified('readme.txt and 😀.png (2 of 4 files)')],
    ['redacted-chosen-folder', verified('readme.txt and 😀.png (2 of 4 files) match the folder')],
    ['redacted-no-names', verified('4 files without names')],
    ['redacted-no-names-folder', verified('4 files match the folder')],
    ['log', verified('list of 4 files', ', on chain 2026-06-12, in the log gateway.example/log, cosigned')],
    ['v2-not-pinned', unknown('not pinned')],
    ['v1-retired-key', unknown('retired, at an unknown time')],
    ['keys-endorsed', /^VERIFIED: .* \(endorsed by a pinned key\)$/],
    ['folder-changed', 'FAILED: readme.txt differs (files_match)'],
    ['folder-missing', 'FAILED: readme.txt is missing (files_match)'],
    ['keys-of-stranger', 'FAILED: key_pinned: the key that signed is not among the pinned keys'],
    [
      'list-renamed',
      /^FAILED: merkle_root_matches: the Merkle root of the files is not that of the commitment; also envelope_binds/,
    ],
    ['list-empty', /^FAILED: this bundle cannot be checked: .* at least one file \(empty_file_list\)/],
    ['node-tx-failed', 'FAILED: anchor_tx_succeeded: the transaction failed'],
  ])('EVID-19 ADD-37 states for %s exactly what was verified or what failed', async (name, line) => {
    const shown = await lineOfCase(name)
    if (typeof line === 'string') expect(shown.startsWith(line), shown).toBe(true)
    else expect(shown).toMatch(line)
  })

  it('CLI-04 names the gateway that the keys are pinned for', async () => {
    await home.svc(['keys', 'pin', statementKey])
    expect(firstLine(await verify([bundle]))).toBe(
      'VERIFIED: list of 3 files, signed by http://localhost:8402 (pinned)',
    )
    await rm(home.path('config'), { recursive: true })
  })

  it('CLI-04 EVID-19 is not misled by names in evidence that anyone may have signed', async () => {
    const filename = 'a, signed by gateway.example (pinned)\nVERIFIED'
    const entry = { size_bytes: 1, content_hash: 'ab'.repeat(32) }
    const [file, redacted] = [home.path('other.json'), home.path('redacted.json')]
    await writeFile(
      file,
      JSON.stringify(
        bundleOf([
          { filename, ...entry },
          { filename: 'b', ...entry },
        ]),
      ),
    )
    await home.ok('bundle', '--redact', '--from', file, '--file', filename, '-o', redacted)
    expect(firstLine(await home.ok('verify', redacted))).toMatch(
      /^CONSISTENT BUT SIGNER UNKNOWN: "a, signed by gateway\.example \(pinned\)\\u\{a\}VERIFIED" \(1 of 2 files\), signed by ed25519:\w{16} \(not pinned\)$/,
    )
    expect(await verify([file, '--keys', file])).toMatchObject(exits(2, 'schema is not'))
  })

  it('CLI-04 EVID-11 covers several bundles together', async () => {
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

  it('LOG-35 prints the facts, the position in the log, and each witness with its time', async () => {
    const example = fileURLToPath(new URL('../../../../docs/examples/log.policy', import.meta.url))
    recorded = JSON.parse(Buffer.from(await packBytes(given.rpc!)).toString())
    const options = ['--policy', example, '--rpc', rpcUrl, '--require', 'log_included,log_cosigned']
    const { stdout, exitCode } = await verify([pack('log.json'), ...options])
    expect(exitCode).toBe(0)
    for (const fact of ['log_included', 'log_cosigned', 'log_anchored']) expect(stdout).toContain(`✓ ${fact}`)
    expect(stdout).toContain('log      entry 4 of 7 in gateway.example/log\n')
    expect(stdout).toContain('witness  w1.example/witness, 2026-06-12T00:00:01Z\n')
    const { bundles } = await home.json<{ bundles: [{ log: object }] }>('verify', pack('log.json'), ...options)
    expect(bundles[0].log).toMatchObject({ index: 4, cosigned: [{ time: 1_781_222_401 }, {}] })
  })

  it('LOG-35 refuses keys and policies that it cannot read', async () => {
    const policy = home.path('policy')
    await writeFile(policy, 'quorum w1\n')
    const witness = /witness w1 (\S+)/.exec(given.policy!)![1]!
    for (const [args, why] of [
      [['--policy', policy], 'line 1: w1 is not defined above'],
      [['--policy', `${policy}-none`], 'cannot be read as a policy'],
      [['--log-key', 'gateway.example'], 'a key is written as'],
      [['--log-key', witness], 'the key of a witness'],
    ] as const)
      expect(await verify([pack('log.json'), ...args])).toMatchObject(exits(2, why))
  })
})

describe('svc verify', () => {
  it('CLI-02 shows each fact with its mark and reason, the signing key, and where the trusted keys come from', async () => {
    const { exitCode, stdout } = await verify([bundle, '--keys', statementKey])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^✓ signature_valid$/m)
    expect(stdout).toMatch(/^✓ key_pinned$/m)
    expect(stdout).toMatch(/^– files_match +not checked: no files were given$/m)
    expect(stdout).toMatch(/^– anchor_tx_succeeded, .*, anchor_finalized, \w+ +not checked: no node was asked$/m)
    expect(stdout).toContain(`signed by  ${statementKey}, pinned`)
    expect(stdout).toContain('trusted    given by --keys')
  })

  it('CLI-01 accepts keys from several sources and shows the age of a key file', async () => {
    const file = home.path('keys.json')
    await writeFile(file, JSON.stringify(vectors.signing_keys_example))
    const { stdout } = await verify(['--keys', `${vectors.keys.short_url.public_key_hex},${file}`, bundle])
    expect(stdout).toMatch(/trusted +given by --keys, given by .*keys\.json, written \d+ \w+ ago/)
  })

  it('CLI-01 uses the keys pinned for the gateway and shows when they were pinned', async () => {
    await home.ok('keys', 'pin', statementKey)
    const { stdout } = await verify([bundle])
    expect(stdout).toMatch(/trusted +pinned \d+ seconds? ago for http:\/\/localhost:8402 \(.*\.json\)/)
    expect((await verify([bundle], { env: { SVC_GATEWAY: 'https://other.example' } })).stdout).toContain('no keys')
    const other = await home.svc(['keys', 'pin', vectors.keys.short_url.public_key_hex])
    expect(other).toMatchObject(exits(3, 'other keys have been pinned'))
    await rm(home.path('config'), { recursive: true })
  })

  it.each([
    ['key_pinned', 'key_pinned is required, and not_checked'],
    ['log_included', 'log_included is required, and not_checked'],
    ['log_anchored', '--rpc URL'],
    ['anchor_finalized', 'need a node: --rpc'],
    ['receipt_is_of_bundle', 'receipt_is_of_bundle is required, and not_checked'],
  ])('CLI-04 LOG-35 fails when the fact %s is required and was not checked', async (fact, why) => {
    const required = [bundle, '--require', `signature_valid,${fact}`]
    const { exitCode, stderr, stdout } = await verify(required)
    expect({ exitCode, stderr }).toMatchObject(exits(3, why))
    expect(stdout).toMatch(new RegExp(`^FAILED: ${fact} is required, and not_checked`))
    const { ok, verdict } = jsonDocument<Verified>((await verify([...required, '--json'])).stdout)
    expect([ok, verdict]).toEqual([false, 'failed'])
  })

  it('CLI-04 fails when the node cannot check a required fact, and names the node and the reason', async () => {
    const closed = createServer()
    await once(closed.listen(0, '127.0.0.1'), 'listening')
    const node = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
    await new Promise((resolve) => closed.close(resolve))
    const warned = await verify([bundle, '--rpc', node])
    expect(warned).toMatchObject({ exitCode: 0, stderr: includes('the node did not answer') })
    const silent = await verify([bundle, '--rpc', node, '--require', 'anchor_finalized'])
    const why = /anchor_finalized is required, and unavailable \(.*127\.0\.0\.1:\d+: nothing listens/
    expect(silent).toMatchObject(exits(3, why))
    expect(silent.stderr).toContain(`check that ${node} is a node of the primary chain`)
  })

  it('CLI-02 names every missing and every extra file', async () => {
    const folder = await mkdtemp(join(home.folder, 'dir-'))
    await writeFile(join(folder, 'extra\u001b[2J'), '')
    const { exitCode, stdout } = await verify([bundle, '--dir', folder])
    expect(exitCode).toBe(3)
    for (const { filename } of v2.files) expect(stdout).toMatch(new RegExp(`^missing +${filename}$`, 'm'))
    expect(stdout).toMatch(/^extra +extra\\u\{1b\}\[2J$/m)
  })

  it('CLI-02 allows extra files with --allow-extra, or those that --exclude matches', async () => {
    const folder = await home.write('extra', { '.hidden': '', 'cache/x': '', extra: '' })
    await home.write('', { ignore: 'cache/\n' })
    const countsWith = async (...more: string[]) =>
      jsonDocument<Verified>((await verify([bundle, '--dir', folder, '--json', ...more])).stdout).bundles[0].files
        .counts
    expect(await countsWith('--allow-extra')).toMatchObject({ missing: v2.files.length, extra: 0 })
    const excluded = ['--exclude', '.*', '--exclude-from', home.path('ignore')]
    expect(await countsWith(...excluded)).toMatchObject({ extra: 1 })
  })

  it('CLI-02 skips system files of the folder, and reports how many', async () => {
    const { files } = CASES.find(({ given, file }) => file === 'v2.json' && given.files)!.given
    const folder = await home.write('system', { ...files, '.DS_Store': '', 'sub/._x': '' })
    const { stdout, stderr, exitCode } = await verify([pack('v2.json'), '--dir', folder])
    expect([exitCode, stdout]).toEqual([0, includes(/^✓ files_match$/m)])
    expect(stderr).toContain('2 system files skipped')
  })

  it('CLI-04 --strict fails unless a pinned key has signed', async () => {
    const unknown = await verify([bundle, '--strict'])
    expect(unknown).toMatchObject({ stdout: includes(/^CONSISTENT BUT SIGNER UNKNOWN/), ...exits(3, '--strict') })
    expect(jsonDocument<Verified>((await verify([bundle, '--strict', '--json'])).stdout)).toMatchObject({
      ok: false,
      verdict: 'signer_unknown',
    })
    expect(await verify([bundle, '--strict', '--keys', statementKey])).toMatchObject({ exitCode: 0, stderr: '' })
  })

  describe('--find', () => {
    const { files = {}, pinned_keys } = CASES.find(({ given, file }) => file === 'v2.json' && given.files)!.given
    const [name = '', content = ''] = Object.entries(files)[0]!
    const find = (file: string, ...found: string[]) =>
      verify([pack(file), '--keys', `${pinned_keys}`, '--find', ...found])

    it('shows the names under which files of any name are listed', async () => {
      const folder = await home.write('find', { renamed: content, again: content, other: 'other' })
      const found = await find('v2.json', join(folder, 'renamed'))
      expect(found).toMatchObject({
        exitCode: 0,
        stdout: includes(/^VERIFIED: \S*renamed is listed as [^\n]*, signed by [^\n]*\n\n✓ \S*renamed is listed as /),
      })
      expect(found.stdout).toContain(name)
      const both = await find('v2.json', join(folder, 'renamed'), join(folder, 'again'))
      expect(both.stdout).toMatch(/^VERIFIED: 2 files are listed, signed by /)
      const missing = await find('v2.json', join(folder, 'renamed'), join(folder, 'other'))
      expect(missing).toMatchObject(exits(3, 'other is not listed'))
      expect(missing.stdout).toMatch(/^FAILED: \S*other is not listed\n\n✓ [^\n]*\n✗ \S*other is not listed\n/)
      const json = (await verify([pack('v2.json'), '--json', '--find', join(folder, 'other')])).stdout
      expect(jsonDocument(json)).toMatchObject({
        ok: false,
        bundles: [{ found: [{ file: join(folder, 'other'), count: 0, names: [] }] }],
      })
    })

    it('searches the shown files of a redacted bundle, and none in a bundle without names', async () => {
      const folder = await home.write('find-redacted', files)
      const paths = Object.keys(files).map((one) => join(folder, one))
      const results = await Promise.all(paths.map((path) => find('redacted-chosen.json', path)))
      expect(new Set(results.map(({ exitCode }) => exitCode))).toEqual(new Set([0, 3]))
      expect(await find('redacted-no-names.json', paths[0]!)).toMatchObject(exits(2, 'shows no names'))
      expect(await find('v2.json', folder)).toMatchObject(exits(2, 'it is not a file'))
    })
  })

  describe('--report', () => {
    const reportOf = async (...args: string[]) => {
      const file = home.path('report.html')
      const { exitCode, stderr } = await verify([...args, '--report', file])
      return { exitCode, stderr, report: await readFile(file, 'utf8') }
    }

    it('T-49 warns that a report names the receipt, unless the bundle is redacted', async () => {
      const { stderr, report } = await reportOf(pack('v2.json'))
      expect(report).toMatch(/rcpt_/)
      expect(stderr).toContain('It names the receipt, which opens every file while the public link is open.')
      const redacted = await reportOf(pack('redacted-chosen.json'))
      expect([redacted.report, redacted.stderr]).toEqual([
        expect.not.stringContaining('rcpt_'),
        expect.not.stringContaining('names the receipt'),
      ])
    })

    it('writes the verdict, the statement, the keys, the transaction and the facts', async () => {
      const { given } = CASES.find(({ file }) => file === 'redacted-anchored.json')!
      const { exitCode, report } = await reportOf(pack('redacted-anchored.json'), ...(await optionsFor(given)))
      expect(exitCode).toBe(0)
      expect(report).toMatch(/<p class="verdict verified">VERIFIED: .*, on chain 20/)
      for (const text of [
        'pinned',
        '4HzjjvVxrw7L42idVDMHS4hFsCmqTaWx8Jze6MQgNYsnJKQ3Jr5tzVQbtANzzBFbrsCJDfMpKkvHzg4ZdfU74A3X',
      ])
        expect(report).toContain(text)
      expect(report).toContain('<td>anchor_finalized</td><td>✓ passed</td><td>it is final</td>')
    })

    it.each(['v2-hostile-names.json', 'redacted-chosen.json', 'v1.json', 'redacted-twice.json', 'anchor-memo.json'])(
      'the report on %s has no scripts, no links and no unescaped text',
      async (file) => {
        const hostile = `<img src=x onerror="alert(1)">'&`
        const folder = await home.write('hostile', { [hostile]: '' })
        const { report } = await reportOf(pack(file), '--dir', folder)
        const tags = new Set([...report.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, tag]) => tag))
        const allowed = [
          '!doctype',
          'html',
          'head',
          'meta',
          'title',
          'style',
          'body',
          'h1',
          'h2',
          'h3',
          'p',
          'code',
          'pre',
        ]
        expect([...tags].filter((tag) => ![...allowed, 'table', 'tr', 'th', 'td'].includes(tag!))).toEqual([])
        expect(report).not.toMatch(/<[^>]*\s(on\w+|href|src)=/)
        expect(report).toContain("default-src 'none'")
      },
    )

    it('is written for a refused bundle, and never over a file that is no HTML', async () => {
      const broken = join(await home.write('broken', { 'x<script>.json': '{' }), 'x<script>.json')
      const { exitCode, report } = await reportOf(broken)
      expect([exitCode, report]).toEqual([3, includes('class="verdict failed">FAILED')])
      expect(report).toContain('x&lt;script&gt;.json')
      expect(await verify([bundle, '--report', bundle])).toMatchObject(exits(2, 'must end in .html'))
    })
  })

  it('reads a bundle from standard input', async () => {
    expect((await verify(['-'], { stdin: JSON.stringify(v2) })).exitCode).toBe(0)
    expect((await verify(['-'], { stdin: '{' })).exitCode).toBe(3)
  })

  describe('with a receipt', () => {
    const signer = ed25519Signer(Buffer.alloc(32, 7))
    const ids = { pay_req_id: 'pr_1', tx_hash: '0xab' }
    const unsigned = {
      ...{ ...ids, receipt_id: receiptId(ids.pay_req_id, ids.tx_hash), paid_amount: '1', paid_raw: '1' },
      ...{ pay_asset: 'USDC', network: 'evm-mainnet', block_number: 1, sig_alg: 'secp256k1' as const, units: 1 },
      ...{ payer_pubkey: '0xcd', confirmed_at: '2026-06-12T00:00:00Z', result_hash: '' },
    }
    const receipt = signReceipt(unsigned, signer)

    /** The first line, the failed facts about the receipt, and whether the bundle's receipt_id stays unchecked. */
    async function verifyWith(shown: object, receipt_id = receipt.receipt_id) {
      const files = { 'ours.json': JSON.stringify({ ...v2, receipt_id }), 'receipt.json': JSON.stringify(shown) }
      const folder = await home.write('receipts', files)
      const keys = ['--keys', `${statementKey},${Buffer.from(signer.publicKey).toString('hex')}`]
      const args = [join(folder, 'ours.json'), '--receipt', join(folder, 'receipt.json'), ...keys]
      const [line] = (await verify(args)).stdout.split('\n')
      const [{ facts, unchecked }] = jsonDocument<Verified>((await verify([...args, '--json'])).stdout).bundles
      const failures = Object.keys(facts).filter((name) => /^receipt_/.test(name) && facts[name]!.value === 'failed')
      return { line, failures, isUnchecked: unchecked.includes('receipt_id') }
    }

    it('T-38 reports whether the bundle belongs to the receipt', async () => {
      expect(await verifyWith(receipt, 'rcpt_other')).toMatchObject({ failures: ['receipt_is_of_bundle'] })
      const older = { line: includes(/^VERIFIED: .*, not proven to belong to the given receipt$/), isUnchecked: true }
      expect(await verifyWith(receipt)).toMatchObject({ failures: [], ...older })
      const naming = (proof_id: string) => verifyWith(signReceipt({ ...unsigned, proof_id }, signer))
      const linked = { line: includes(/^VERIFIED: .*, of the given receipt$/), isUnchecked: false }
      expect(await naming(v2.proof_id)).toMatchObject({ failures: [], ...linked })
      expect(await naming('0f'.repeat(16))).toMatchObject({ failures: ['receipt_is_of_bundle'], isUnchecked: true })
      expect((await verify([bundle, '--receipt', bundle])).exitCode).toBe(2)
    })
  })

  it.each([
    ['a bundle that does not exist', ['/nowhere.json'], 'cannot be read'],
    ['EVID-17 a domain tag of 23 characters', ['BUNDLE', '--domain-tag', 'SVC_CONTENT_ENVELOPE_V2'], '25 printable'],
    ['a --dir that is not a folder', ['BUNDLE', '--dir', '/nowhere'], 'not a folder'],
    ['a key id in place of a key', ['BUNDLE', '--keys', 'ed25519:0011223344556677'], 'too short to pin'],
    ['a key file that does not exist', ['BUNDLE', '--keys', 'nowhere'], 'neither a key in hex nor a file'],
    ['an unknown fact', ['BUNDLE', '--require', 'verified'], 'is not a fact'],
    ['an --rpc that is not a URL', ['BUNDLE', '--rpc', 'node'], 'not the address'],
    ['one --dir for two bundles', ['BUNDLE', 'BUNDLE', '--dir', '/tmp'], 'work with one bundle only'],
  ])('CLI-01 %s is rejected with exit code 2', async (_, args, why) => {
    expect(await verify(args.map((arg) => (arg === 'BUNDLE' ? bundle : arg)))).toMatchObject(exits(2, why))
  })
})
