import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { toBase64, toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Corpora, emptyCorpora, KINDS, type Kind } from '../src/corpora/cases.ts'
import { checkEntryPoints } from '../src/corpora/entry-points/check-entry-points.ts'
import { examples } from '../src/corpora/examples.ts'
import { checkInPackages } from '../src/corpora/in-packages.ts'
import { checkOverHttp } from '../src/corpora/over-http.ts'
import { readCorpora } from '../src/corpora/read-folder.ts'

const { publicKey, sign } = ed25519Signer(new Uint8Array(32).fill(3))
const message = utf8('a message')
const signature = sign(message)
const [key, msg, sig] = [publicKey, message, signature].map(toHex)

const fixtures = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
/** Small examples of every form in which corpora are published. */
const PUBLISHED = fixtures('published')
const JSON_CASES = (await readCorpora(fixtures('texts'))).json

async function folderOf(files: Record<string, unknown>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-corpora-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    const isText = typeof content === 'string' || content instanceof Uint8Array
    await writeFile(join(folder, name), isText ? content : JSON.stringify(content))
  }
  return folder
}

/** The same cases with wrong expectations. Cases without expectations are omitted. */
function wrongCorpora({ ed25519, secp256k1, canonical, numbers, encodings, trees }: Corpora): Corpora {
  const [good] = secp256k1.filter(({ isValid, form }) => isValid && form === 'P1363')
  return {
    ...emptyCorpora(),
    ed25519: ed25519.map((one) => ({ ...one, isValid: !one.isValid })),
    secp256k1: [{ ...good!, isValid: false }],
    canonical: canonical
      .filter(({ name }) => name.includes('order'))
      .map((one) => ({ ...one, output: toBase64(utf8('[3]')) })),
    numbers: numbers.map((one) => ({ ...one, bits: '3ff8000000000000' })),
    encodings: encodings.filter(({ text }) => ['2g', 'YWI='].includes(text)).map((one) => ({ ...one, bytes: 'ff' })),
    trees: trees.map((one) => ({ ...one, holds: !one.holds })),
  }
}

describe('external corpora', () => {
  it('T-129 are recognized by the content of their files, and unknown files are named', async () => {
    const wycheproof = (curve: string) => ({
      algorithm: 'EDDSA',
      testGroups: [{ publicKey: { curve, pk: key }, tests: [{ tcId: 1, msg, sig, result: 'valid' }] }],
    })
    const folder = await folderOf({
      'n_alone.json': '[',
      'below/texts.json': Object.fromEntries(JSON_CASES.map(({ name, bytes }) => [name, toBase64(bytes)])),
      'below/words': { y_bad: 'no base64!', other: '' },
      'flags.json': [
        { number: 0, key, sig, msg: 'a message', flags: ['low_order_component_R'] },
        { number: 1, key, sig, msg: 'another', flags: ['low_order_residue'] },
        { number: 2, key, sig, msg: 'another', flags: ['unheard_of'] },
        { key },
      ],
      'plain.json': [{ pub_key: key, signature: sig, message: msg }],
      'wycheproof.json': wycheproof('edwards25519'),
      'other-curve.json': wycheproof('secp256k1'),
      LICENSE: 'You may.',
      'settings.json': { a: 1 },
    })
    const { json, ed25519, unread } = await readCorpora(folder)
    expect(json.map(({ name }) => name).sort()).toEqual([...JSON_CASES.map(({ name }) => name), 'n_alone.json'].sort())
    expect(ed25519.map(({ name, isValid }) => [name, isValid])).toEqual([
      ['flags.json 0', true],
      ['flags.json 1', false],
      ['flags.json 2', null],
      ['plain.json 0', null],
      ['wycheproof.json 1', true],
    ])
    expect(unread).toEqual([
      'LICENSE: an unknown format',
      'below/words: y_bad is not base64',
      'below/words: 1 entries whose names begin with none of y_, n_ and i_',
      'flags.json: 1 entries in an unknown format',
      'other-curve.json: 1 tests of EDDSA on secp256k1, which no code here verifies',
      'settings.json: an unknown format',
    ])
  })

  it('T-129 pass in our packages, and a failed case is reported', async () => {
    const signed = { name: 'good', publicKey, message, signature, isValid: true }
    const corpora: Corpora = { ...emptyCorpora(), json: JSON_CASES, ed25519: [signed] }
    const outcomes = await checkInPackages(examples(), corpora, null)
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    expect(outcomes.map(({ kind }) => kind)).toContain('JSON texts, file of a bundle')
    expect(outcomes.flatMap(({ notes }) => notes)).toEqual([
      'refused although they are JSON, by rule (ADD-05): y_key_twice.json',
      '1 are valid by our rule (ADD-04)',
    ])
    const wrong: Corpora = {
      ...emptyCorpora(),
      json: [
        { name: 'n_good', bytes: utf8('[]') },
        { name: 'y_bad', bytes: utf8('[') },
      ],
      ed25519: [{ ...signed, isValid: false }],
    }
    const none: string[] = []
    const inPage = {
      objections: { 'strict reader': [null, null] },
      verdicts: [{ verify: false }],
      problems: { secp256k1: none, canonical: none, numbers: none, texts: none, encodings: none, trees: none },
    }
    const problems = (await checkInPackages(examples(), wrong, inPage)).flatMap((outcome) => outcome.problems)
    expect(problems.slice(0, 3)).toEqual([
      'n_good: was parsed',
      'y_bad: was refused: expected a value at character 1',
      'y_bad: expected a value at character 1 on a server, null in Chromium',
    ])
    expect(problems.slice(-2)).toEqual([
      'good: the corpus says false, our rule true',
      'good: verify in Chromium says false, our rule true',
    ])
  })

  it('T-129 are read in their published forms, and a broken file does not stop the others', async () => {
    const folder = await folderOf({
      '.git/config': 'y',
      'README.txt': 'What this is.',
      'cut.json': '{"testGroups": [',
      'empty.json': [],
      'noise.bin': Uint8Array.of(0xff, 0xfe, 0x00),
    })
    await symlink('nowhere', join(folder, 'link'))
    await cp(PUBLISHED, folder, { recursive: true })
    const { unread, ...cases } = await readCorpora(folder)
    const counts = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, cases[kind as Kind].length]))
    const small = { json: 4, ed25519: 2, secp256k1: 4, canonical: 4, numbers: 5 }
    expect(counts).toEqual({ ...small, texts: 13, urls: 9, encodings: 7, trees: 8 })
    const names = ['checker/i_fail18.json', 'checker/n_fail2.json', 'checker/y_pass1.json', 'suite/n_bytes.json']
    expect(cases.json.map(({ name }) => name)).toEqual(names)
    expect(unread).toEqual([
      'README.txt: an unknown format',
      'cut.json: an unknown format',
      'empty.json: an empty list',
      'encodings/base58.json: 1 entries in an unknown format',
      'noise.bin: neither JSON nor text in UTF-8',
      'wycheproof/other.json: 1 tests of ECDSA on secp256k1, which no code here verifies',
      'link: neither a file nor a folder',
      '.git: folders of this name are left out',
    ])
    const alone = await readCorpora(join(folder, 'urls.json'))
    expect([alone.urls.length, alone.unread]).toEqual([cases.urls.length - 1, []])
  })

  it('T-129 are read by our packages as expected, or rejected by rule, and a failed case is reported', async () => {
    const corpora = await readCorpora(PUBLISHED)
    const outcomes = await checkInPackages(examples(), { ...corpora, json: [] }, null)
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    expect(outcomes.every(({ cases, passed }) => cases > 0 && passed === cases)).toBe(true)
    const wrong = await checkInPackages(examples(), wrongCorpora(corpora), null)
    expect(wrong.map(({ passed }) => passed)).toEqual([0, 0, 0, 0, 0, 0])
  })

  const throughEntryPoints = async (dialect: 'sqlite' | 'postgres') => {
    const { texts, urls } = await readCorpora(PUBLISHED)
    const outcomes = await checkEntryPoints({ ...emptyCorpora(), texts, urls }, [dialect])
    const urlsToo = dialect === 'sqlite' ? ['URLs, fetch-and-store, mirrors and webhooks'] : []
    const uses = ['tags', 'rejected tags', 'names in lists', 'names at every endpoint', 'rejected names']
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      ...uses.map((use) => `strings, as ${use} on ${dialect}`),
      ...urlsToo,
    ])
    return outcomes.flatMap(({ problems }) => problems)
  }

  it('T-06 are unchanged names and tags at every endpoint, and URLs that call nothing of ours', async () => {
    expect(await throughEntryPoints('sqlite')).toEqual([])
  })

  it('T-06 are unchanged names and tags on PostgreSQL, too', { tags: ['nightly'] }, async () => {
    expect(await throughEntryPoints('postgres')).toEqual([])
  })

  it('T-125 are read by every operation of both services as by the strict reader', async () => {
    const outcomes = await checkOverHttp(JSON_CASES)
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    const [bodies, envelopes, headers] = outcomes.map(({ cases }) => cases)
    const inHeader = JSON_CASES.length - 1 // without the empty one
    expect([envelopes, headers]).toEqual([inHeader, 4 * inHeader])
    expect(bodies).toBeGreaterThan(50 * JSON_CASES.length)
  })

  it('T-129 end with the passed cases by kind, or report that there was nothing to run', {
    tags: ['nightly'],
  }, async () => {
    const program = new URL('../src/corpora/main.ts', import.meta.url)
    const run = async (...args: string[]) => {
      const { code, stderr, stdout } = await startProcess(program, {
        args,
        env: { CHROMIUM_PATH: '/nonexistent/chromium' },
      }).ended
      return { code, said: stderr || stdout.trimEnd().split('\n') }
    }
    const numbers = await folderOf({ 'numbers.txt': '0,0\n3ff8000000000000,1.5\nelse\n' })
    expect(await run(numbers)).toEqual({
      code: 1,
      said: [
        `${numbers}: 2 numbers`,
        '  not read: numbers.txt: 1 lines in another format',
        'Chromium: 0 cases, 0 passed',
        expect.stringContaining('✗ was not run: '),
        'numbers, our packages: 2 cases, all passed',
        'passed, each case by each of its readers: Chromium 0 of 0; numbers 2 of 2',
        'not read, and not counted: 1 (see above)',
      ],
    })
    for (const [args, said] of [
      [[await folderOf({ README: 'Nothing.' })], 'holds no cases'],
      [[], 'npm run corpora -- FOLDER'],
      [[join(numbers, 'nowhere')], 'cannot be read: ENOENT'],
    ] as const)
      expect(await run(...args)).toEqual({ code: 2, said: expect.stringContaining(said) })
  })
})
