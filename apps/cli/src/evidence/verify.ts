import { createReadStream } from 'node:fs'
import { access, readFile, stat, writeFile } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { DOMAIN_TAG_BYTES, domainTagBytes } from '@svc/protocol/names'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { folderSource } from '@svc/sdk/node'
import { ONLINE_FACTS } from '@svc/verifier/facts'
import { type ReceiptTexts, readReceipt, receiptFacts } from '@svc/verifier/receipt-facts'
import type { Given, VerifiedBundle } from '@svc/verifier/verify-bundle'
import { type ChainReport, verifyChain } from '@svc/verifier/verify-chain'
import type { Command } from 'commander'
import { NotVerified, UsageError } from '../errors.ts'
import { type Decrypt, type DecryptOptions, decryption, withDecryptOptions } from '../files/encryption.ts'
import { excluderOf, isSystemFile, type PatternOptions, systemFilesText } from '../files/patterns.ts'
import type { Host } from '../host.ts'
import { listOption, repeatedOption } from '../options.ts'
import { pairs } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { webAddress } from '../setup/settings.ts'
import { FACT_MEANINGS, FACTS } from './fact-meanings.ts'
import { MOST_NAMES } from './file-names.ts'
import { fileFinder } from './find-files.ts'
import { type GivenKeys, givenKeys } from './given-keys.ts'
import { givenLogs, type LogOptions } from './given-logs.ts'
import type { ReportContent } from './html-report.ts'
import { type Judged, objections, verdictOfAll } from './judgement.ts'
import { chainText, decryptionText, foundText, judgedText } from './judgement-text.ts'
import { factsOf, reportOf } from './report.ts'
import { verdictText } from './verdict-text.ts'
import { type Verified, verifyChunks } from './verify-chunks.ts'

interface VerifyOptions extends PatternOptions, DecryptOptions, LogOptions {
  keys?: string[]
  signer?: string[]
  rpc?: string
  dir?: string
  allowExtra?: boolean
  domainTag?: string
  receipt?: string
  require?: string[]
  strict?: boolean
  find?: string[]
  report?: string
}

const NEED_NODE: readonly string[] = [...ONLINE_FACTS, 'log_anchored']

export function add(program: Command, open: Open): void {
  const verifying = program
    .command('verify')
    .description('check evidence bundles, fact by fact, without asking the gateway')
    .argument('<bundle...>', 'files; - is standard input; several are also checked as a chain')
    .addOption(
      listOption('--keys <keys>', 'keys that must have signed: files, or hex; by default the keys of `svc keys pin`'),
    )
    .addOption(listOption('--signer <keys>', 'publication keys (base58); one of them must have signed on chain'))
    .option(
      '--rpc <url>',
      'node of the primary chain that checks the anchor, like --primary-rpc; without either no request is made',
    )
    .addOption(repeatedOption('--log-key <key>', 'key of a log (name+hash+base64) that the statement must be in'))
    .option('--policy <file>', 'logs, witnesses and the number that must vouch, as C2SP tlog-policy')
    .option('--dir <folder>', 'folder with the files, to compare with the list')
    .option('--allow-extra', 'with --dir: allow files that the bundle does not list')
    .addOption(
      repeatedOption('--exclude <pattern>', "with --dir: allow files like this that the bundle does not list: '*.tmp'"),
    )
    .addOption(
      repeatedOption(
        '--exclude-from <file>',
        'with --dir: the same for the patterns in this file, which has the format of .gitignore',
      ),
    )
    .option('--domain-tag <tag>', 'domain tag of the gateway, if not the default')
    .option('--receipt <file>', 'also check this receipt (svc receipt --json)')
    .addOption(listOption('--require <facts>', 'fail unless these have passed, for example key_pinned'))
    .option('--strict', 'fail unless the verdict is VERIFIED')
    .option('--find <file...>', 'look up files by their content, and show the names under which they are listed')
    .option('--report <file>', 'also write the result as a printable HTML file')
  withDecryptOptions(verifying)
    .addHelpText(
      'after',
      `
The first line is the verdict; with --json it is "verdict":
  VERIFIED ("verified")                              nothing failed, and a pinned key has signed
  CONSISTENT BUT SIGNER UNKNOWN ("signer_unknown")   nothing failed, but anyone may have signed:
                                                     pin keys with --keys, or \`svc keys pin\`
  FAILED ("failed")                                  a fact failed, or a required one did not pass

The facts follow: ✓ passed, ✗ failed, – not checked. A fact that was not checked has not passed
and does not count for the verdict. The exit code is 3 for FAILED, else 0; with --strict it is
3 unless the verdict is VERIFIED. --keys, --signer and --require can be repeated or take a
comma-separated list. --find also fails if a file is not listed: put it after the bundle.

A redacted bundle shows some files, or none by name: what it leaves out is listed, and not checked.
A DSSE envelope or a Sigstore bundle of \`svc bundle --format\` is checked with the statement in it.

With --decrypt, --dir may contain the plaintext of encrypted files: it is encrypted again and then
compared. Encrypted files in the folder are compared unchanged, then decrypted, and compared with
the plaintext beside them. A bundle that shows no names needs the encrypted files.

A gateway's public log is checked with --log-key or --policy, else with the log of the pinned keys:
log_included shows that the statement is in it, log_cosigned that enough witnesses of the policy
vouch for it; the output names them with their times.

Facts, and what each means when it has passed:
${pairs(FACTS.map((fact) => [`  ${fact}`, FACT_MEANINGS[fact]]))}`,
    )
    .action(async (bundles: string[], options: VerifyOptions, command: Command) =>
      verify(await open(command), bundles, options),
    )
}

async function verify(session: Session, paths: readonly string[], given: VerifyOptions): Promise<void> {
  const { output, settings } = session
  // Only an option of this command names a node: the node for payments is never used here.
  const node = settings['primary-rpc']
  const options = { ...(node?.from === '--primary-rpc' && { rpc: node.value }), ...given }
  const required = options.require ?? []
  await requireValidOptions(paths, options)
  const decrypt = await decryption(session, await session.locker().catch(() => null), options)
  if (decrypt && options.dir === undefined) throw new UsageError('--decrypt needs the files: --dir FOLDER')
  const keys = await givenKeys(session, options.keys ?? [])
  const judged = await judge(session, paths, options, keys, decrypt)
  const chain = paths.length > 1 ? chainOf(judged) : null
  const objected = objections(judged, chain, required)
  const verdict = verdictOfAll(judged, objected)
  const isRejected = objected.length > 0 || (options.strict === true && verdict !== 'verified')
  const verdicts = { verdict, judged, chain, objected, audience: keys.audience }
  const document = {
    ok: !isRejected,
    verdict,
    keys_from: keys.from,
    bundles: judged.map(documentOf),
    chain: chain && chainDocument(chain),
  }
  output.result(document, () => {
    const first = verdictText(verdicts, output.style)
    const found = judged.flatMap((one) => (one.found.length > 0 ? [foundText(one.found, output.style)] : []))
    const texts = judged.map((one) => judgedText(one, keys.from, output.style))
    const decryptions = judged.flatMap(({ decryption }) =>
      decryption ? [decryptionText(decryption, output.style)] : [],
    )
    return [first, ...found, ...texts, ...decryptions, ...(chain ? [chainText(chain, output.style)] : [])].join('\n\n')
  })
  if (options.report !== undefined) await writeReport(session, options.report, { ...verdicts, keysFrom: keys.from })
  if (objected.length > 0)
    throw new NotVerified(
      `verification failed: ${objected.map(({ what }) => what).join(', ')}`,
      adviceFor(judged, options),
    )
  if (isRejected)
    throw new NotVerified('--strict: the signer is unknown', 'pin the keys of the gateway: --keys, or `svc keys pin`')
  if (options.rpc !== undefined && judged.some(isUnavailable))
    output.warn('the node did not answer: the anchor was not checked. --require makes that an error')
}

async function requireValidOptions(paths: readonly string[], options: VerifyOptions): Promise<void> {
  const { domainTag, dir, require = [], receipt, find, report } = options
  if (domainTag !== undefined && !domainTagBytes(domainTag))
    throw new UsageError(`--domain-tag must be ${DOMAIN_TAG_BYTES} printable ASCII characters`)
  const unknown = require.find((name) => !Object.hasOwn(FACT_MEANINGS, name))
  if (unknown !== undefined) throw new UsageError(`${JSON.stringify(unknown)} is not a fact`, FACTS.join(', '))
  if (dir !== undefined && !(await stat(dir).catch(() => null))?.isDirectory())
    throw new UsageError(`${dir} is not a folder`)
  if (paths.length > 1 && (dir !== undefined || receipt !== undefined || find !== undefined || paths.includes('-')))
    throw new UsageError('--dir, --receipt, --find and - work with one bundle only')
  // A mistyped order of arguments must not overwrite evidence.
  if (report !== undefined && !/\.html?$/i.test(report))
    throw new UsageError('the filename of --report must end in .html')
}

async function judge(
  { host, output }: Session,
  paths: readonly string[],
  options: VerifyOptions,
  keys: GivenKeys,
  decrypt: Decrypt | null,
): Promise<Judged[]> {
  const { dir, rpc, allowExtra = false } = options
  const { pinnedKeys, listed, audience } = keys
  const domainTag = options.domainTag ?? keys.domainTag
  const systemFiles = new Set<string>()
  const isPatternOf = await excluderOf(options)
  const isExcluded = (name: string) => {
    if (isPatternOf(name) && isSystemFile(name)) systemFiles.add(name)
    return isPatternOf(name)
  }
  const folder = dir === undefined ? null : folderSource(dir, { allowExtra, isExcluded })
  const given = {
    ...(await givenLogs(options)),
    pinnedKeys,
    listed,
    ...(audience !== null && { audience }),
    pinnedSigners: options.signer ?? keys.pinnedSigners,
    ...(domainTag !== null && { domainTag }),
    ...(rpc !== undefined && { rpc: jsonRpc(webAddress(rpc, 'a node'), { signal: host.signal }) }),
  }
  const receipt = options.receipt === undefined ? null : await readReceiptFile(options.receipt)
  const finder = await fileFinder(options.find ?? [], host.signal)
  const judged: Judged[] = []
  for (const path of paths) {
    const decrypted = folder && dir !== undefined && decrypt ? await withDecrypted(dir, folder, decrypt) : null
    const files = decrypted?.source ?? folder
    const names: string[] = []
    const { verification, dsse } = await verifyFile(host, path, {
      ...given,
      ...(files && { files }),
      onFiles(some) {
        finder.compare(some)
        names.push(...some.slice(0, MOST_NAMES - names.length).map(({ filename }) => filename))
        // Listed files are compared.
        for (const { filename } of some) systemFiles.delete(filename)
      },
    })
    host.signal.throwIfAborted()
    const facts = receipt && !verification.refused ? receiptFacts(receipt, verification) : null
    const decryption = decrypted && !verification.refused ? await decrypted.report() : null
    if (options.find && !verification.refused && verification.redacted?.redaction === 'no_names')
      throw new UsageError(`${path} shows no names, so no file can be found in it`, 'compare all files with --dir')
    judged.push({ path, verification, names, receipt: facts, dsse, decryption, found: finder.found })
  }
  if (systemFiles.size > 0 && !allowExtra) output.note(systemFilesText(systemFiles.size))
  return judged
}

/** The ciphers are large, so only --decrypt loads them. */
async function withDecrypted(dir: string, folder: ReturnType<typeof folderSource>, decrypt: Decrypt) {
  return (await import('./decrypted-files.ts')).decryptedFiles(dir, folder, decrypt)
}

function chainOf(judged: readonly Judged[]): ChainReport {
  return verifyChain(
    judged.map(({ verification }) => verification).filter((one): one is VerifiedBundle => !one.refused),
  )
}

function chainDocument({ sequences, problems, isFromStart }: ChainReport): object {
  return { sequences, problems, from_start: isFromStart }
}

function documentOf({ path, decryption, found, ...checked }: Judged): object {
  const { verification } = checked
  if (verification.refused) return { bundle: path, ...verification }
  const { log, ...report } = reportOf({ ...checked, verification })
  return {
    bundle: path,
    refused: null,
    ...report,
    failed: verification.failed,
    key: verification.key,
    ...(log && { log }),
    files: verification.files,
    ...(decryption && { decryption }),
    ...(found.length > 0 && { found }),
  }
}

async function writeReport(
  { host, output }: Session,
  path: string,
  content: Omit<ReportContent, 'now'>,
): Promise<void> {
  const { htmlReport } = await import('./html-report.ts')
  await writeFile(path, htmlReport({ ...content, now: host.now() }))
  output.note(`\nReport: ${path}`)
  if (content.judged.some(namesReceipt)) output.note(NAMES_RECEIPT)
}

const NAMES_RECEIPT =
  'It names the receipt, which opens every file while the public link is open. The report of a redacted bundle opens nothing.'

function namesReceipt({ verification }: Judged): boolean {
  return !verification.refused && verification.receiptId !== null
}

/** Streams a bundle from disk or standard input, because it may be large. */
async function verifyFile({ stdin, signal }: Host, path: string, given: Given): Promise<Verified> {
  if (path === '-') return verifyChunks(addAbortSignal(signal, stdin), given)
  await access(path).catch(() => {
    throw new UsageError(`the bundle ${path} cannot be read`)
  })
  return verifyChunks(createReadStream(path, { highWaterMark: 256 * 1024, signal }), given)
}

/** A receipt as `svc receipt --json` prints it. */
async function readReceiptFile(path: string): Promise<ReceiptTexts> {
  const bytes = await readFile(path).catch((error: Error) => {
    throw new UsageError(`${path} cannot be read as a receipt: ${error.message}`)
  })
  const receipt = readReceipt(bytes)
  if (receipt) return receipt
  throw new UsageError(`${path} is not a receipt`, '`svc receipt --json` prints one')
}

function isUnavailable(judged: Judged): boolean {
  return Object.values(factsOf(judged)).some(({ value }) => value === 'unavailable')
}

/** Advice if facts are missing that only a node can check. */
function adviceFor(judged: readonly Judged[], { rpc, require = [] }: VerifyOptions): string | null {
  if (!require.some((name) => NEED_NODE.includes(name))) return null
  if (rpc === undefined) return 'facts about the chain need a node: --rpc URL'
  if (!judged.some(isUnavailable)) return null
  return `check that ${rpc} is a node of the primary chain and answers, or name another node with --rpc`
}
