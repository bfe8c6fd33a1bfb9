import { randomUUID } from 'node:crypto'
import { open as openFile, rename, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { lockerArgument, type StatementOptions, sequenceOf, statementOption } from '../options.ts'
import { written } from '../output/output.ts'
import { bytesText } from '../output/quantities.ts'
import type { Open, Session } from '../session.ts'

interface BundleOptions extends StatementOptions {
  out?: string
}

export function add(program: Command, open: Open): void {
  program
    .command('bundle')
    .description('all the evidence about the locker, for `svc verify`; needs no wallet')
    .addArgument(lockerArgument())
    .option('-o, --out <file>', 'where to write it; the standard output unless given')
    .addOption(statementOption())
    .action(async (locker: string | undefined, options: BundleOptions, command: Command) =>
      bundle(await open(command), locker, options),
    )
}

async function bundle(session: Session, wanted: string | undefined, options: BundleOptions): Promise<void> {
  const { output, world } = session
  const { stdout, signal } = world
  const { out } = options
  const { receipt_id } = await session.locker(wanted)
  const client = await session.client()
  const write = (target: WritableStream<Uint8Array>) =>
    client.bundle(receipt_id, target, { ...sequenceOf(options), signal })
  if (out === undefined) {
    if (stdout.isTTY) throw new UsageError('a bundle is long: give a file with -o, or pipe it somewhere')
    return write(new WritableStream({ write: (chunk) => written(stdout, chunk) }))
  }
  const bytes = await writeWhole(out, write)
  output.result({ file: out, size_bytes: bytes, receipt_id }, () => `${out}: ${bytesText(bytes)}`)
  output.note(`\nNext: \`svc verify ${out}\``)
}

/** Writes to a temporary file and renames it once it is complete. */
async function writeWhole(path: string, write: (target: WritableStream<Uint8Array>) => Promise<void>): Promise<number> {
  const draft = `${path}.${randomUUID()}.part`
  const file = await openFile(draft, 'wx')
  try {
    await write(new WritableStream({ write: (chunk) => file.writeFile(chunk) }))
    await file.sync()
    const { size } = await file.stat()
    await rename(draft, path)
    return size
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}
