import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'
import { toBase64, toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Corpora, emptyCorpora, KINDS, type Kind } from '../src/corpora/cases.ts'
import { checkOverDoors } from '../src/corpora/doors/over-doors.ts'
import { examples } from '../src/corpora/examples.ts'
import { checkInPackages } from '../src/corpora/in-packages.ts'
import { checkOverHttp } from '../src/corpora/over-http.ts'
import { readCorpora } from '../src/corpora/read-folder.ts'
import { publishedFiles, wrongCorpora } from './published-corpora.ts'

const { publicKey, sign } = ed25519Signer(new Uint8Array(32).fill(3))
const message = utf8('a message')
const signature = sign(message)
const [key, msg, sig] = [publicKey, message, signature].map(toHex)

const TEXTS: Record<string, string | Uint8Array> = {
  'y_array.json': '[1,"a",{"b":null}]',
  'y_empty_object.json': '{}',
  'y_key_twice.json': '{"a":1,"a":2}',
  'y_text.json': ' "\\u00e9\\ud83d\\ude00" ',
  'n_comma.json': '[1,]',
  'n_escape.json': '{"a":"\\x00"}',
  'n_nothing.json': '',
  'n_number.json': '-01',
  'n_open.json': '{"a":[',
  'n_two.json': '{}{}',
  'i_deep.json': '['.repeat(40) + ']'.repeat(40),
  'i_half_pair.json': '{"a":"\\ud800"}',
  'i_huge.json': '[1e999]',
  'i_mark.json': '\ufeff{}',
  'i_not_utf8.json': Uint8Array.of(0x22, 0xff, 0x22),
}
const JSON_CASES = Object.entries(TEXTS).map(([name, text]) => ({
  name,
  bytes: typeof text === 'string' ? utf8(text) : text,
}))

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

describe('outside corpora', () => {
  it('T-115 are recognised by what is in their files, and what is not is named', async () => {
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
    expect(json.map(({ name }) => name).sort()).toEqual([...Object.keys(TEXTS), 'n_alone.json'].sort())
    expect(ed25519.map(({ name, isValid }) => [name, isValid])).toEqual([
      ['flags.json 0', true],
      ['flags.json 1', false],
      ['flags.json 2', null],
      ['plain.json 0', null],
      ['wycheproof.json 1', true],
    ])
    expect(unread).toEqual([
      'LICENSE: not a form that is known here',
      'below/words: y_bad is not base64',
      'below/words: 1 entries whose names begin with none of y_, n_ and i_',
      'flags.json: 1 entries of no form that is known here',
      'other-curve.json: 1 tests of EDDSA on secp256k1, which nothing here verifies',
      'settings.json: not a form that is known here',
    ])
  })

  it('T-115 hold in our packages, and a case that does not is told', async () => {
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

  it('T-193 are read in the shapes in which they are published, and a broken file stops no other', async () => {
    const folder = await folderOf({
      ...(await publishedFiles()),
      '.git/config': 'y',
      'README.txt': 'What this is.',
      'cut.json': '{"testGroups": [',
      'empty.json': [],
      'noise.bin': Uint8Array.of(0xff, 0xfe, 0x00),
    })
    await symlink('nowhere', join(folder, 'link'))
    const { unread, ...cases } = await readCorpora(folder)
    const counts = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, cases[kind as Kind].length]))
    expect(counts).toEqual({
      json: 4,
      ed25519: 2,
      secp256k1: 4,
      canonical: 4,
      numbers: 5,
      texts: 13,
      urls: 9,
      encodings: 7,
      trees: 8,
    })
    expect(cases.json.map(({ name }) => name)).toEqual([
      'checker/i_fail18.json',
      'checker/n_fail2.json',
      'checker/y_pass1.json',
      'suite/n_bytes.json',
    ])
    expect(unread).toEqual([
      'README.txt: not a form that is known here',
      'cut.json: not a form that is known here',
      'empty.json: an empty list',
      'encodings/base58.json: 1 entries of no form that is known here',
      'noise.bin: neither JSON nor text in UTF-8',
      'wycheproof/other.json: 1 tests of ECDSA on secp256k1, which nothing here verifies',
      'link: neither a file nor a folder',
      '.git: folders of this name are left out',
    ])
    const alone = await readCorpora(join(folder, 'urls.json'))
    expect([alone.urls.length, alone.unread]).toEqual([cases.urls.length - 1, []])
  })

  it('T-196 are read by our packages as they say, or refused by rule, and a case that is not is told', async () => {
    const corpora = await readCorpora(await folderOf(await publishedFiles()))
    const outcomes = await checkInPackages(examples(), { ...corpora, json: [] }, null)
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    expect(outcomes.every(({ cases, held }) => cases > 0 && held === cases)).toBe(true)
    const wrong = await checkInPackages(examples(), wrongCorpora(corpora), null)
    expect(wrong.map(({ kind, held }) => [kind, held])).toEqual([
      ['Ed25519 signatures, our packages', 0],
      ['secp256k1 signatures, our packages', 0],
      ['canonical JSON documents, our packages', 0],
      ['numbers, our packages', 0],
      ['encoded bytes, our packages', 0],
      ['tree proofs, our packages', 0],
    ])
  })

  it('T-194 are names and tags at every door as they are, and URLs that call nothing of ours', async () => {
    const { texts, urls } = await readCorpora(await folderOf(await publishedFiles()))
    const outcomes = await checkOverDoors({ ...emptyCorpora(), texts, urls })
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'strings, as tags on sqlite',
      'strings, as tags to refuse on sqlite',
      'strings, as names in lists on sqlite',
      'strings, as names at every door on sqlite',
      'strings, as names to refuse on sqlite',
      'URLs, fetch-and-store, mirrors and webhooks',
      'strings, as tags on postgres',
      'strings, as tags to refuse on postgres',
      'strings, as names in lists on postgres',
      'strings, as names at every door on postgres',
      'strings, as names to refuse on postgres',
    ])
  })

  it('T-116 are read by every operation of both services as by the strict reader', async () => {
    const outcomes = await checkOverHttp(JSON_CASES)
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    const [bodies, envelopes, headers] = outcomes.map(({ cases }) => cases)
    const inHeader = JSON_CASES.length - 1 // without the one that is empty
    expect([envelopes, headers]).toEqual([inHeader, 4 * inHeader])
    expect(bodies).toBeGreaterThan(50 * JSON_CASES.length)
  })

  it('T-115 T-193 ends with what held by kind; says so where nothing was to run, or a place could not be', {
    tags: ['nightly'],
  }, async () => {
    const program = new URL('../src/corpora/main.ts', import.meta.url)
    const folder = await folderOf({ README: 'Nothing.' })
    const env = { CHROMIUM_PATH: '/nonexistent' }
    const run = async (...args: string[]) => {
      const { code, stderr, stdout } = await startProcess(program, { args, env }).ended
      return { code, ...(stderr ? { stderr } : { lines: stdout.trimEnd().split('\n') }) }
    }
    const numbers = await folderOf({ 'numbers.txt': '0,0\n3ff8000000000000,1.5\nelse\n' })
    expect(await run(numbers)).toEqual({
      code: 1,
      lines: [
        `${numbers}: 2 numbers`,
        '  not read: numbers.txt: 1 lines of another form',
        'Chromium: 0 cases, 0 held',
        expect.stringContaining('✗ was not run: '),
        'numbers, our packages: 2 cases, all held',
        'held, each case by each of its readers: Chromium 0 of 0; numbers 2 of 2',
        'not read, and not counted: 1 (see above)',
      ],
    })
    expect(await run(folder)).toEqual({ code: 2, stderr: expect.stringContaining('holds no cases') })
    expect(await run()).toEqual({ code: 2, stderr: expect.stringContaining('npm run corpora -- FOLDER') })
    expect(await run(join(folder, 'nowhere'))).toEqual({
      code: 2,
      stderr: expect.stringContaining('cannot be read: ENOENT'),
    })
  })
})
