// The statement for other verifiers. Only the gateway that made it can sign it in their formats.

import { useSignal } from '@preact/signals'
import type { DsseAnswer, DsseFormat } from '@svc/api/dsse'
import { fromHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { texts as t } from '#texts/other-verifiers'
import { getJson } from '../../gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { TextField } from '../../ui/text-field.tsx'

interface OtherVerifiersProps {
  receiptId: string
  sequence: number
  /** The keys that the visitor trusts, in hex. */
  trustedKeys: readonly string[]
}

const NAMES: Record<DsseFormat, string> = {
  'sigstore-bundle': 'statement.sigstore.json',
  dsse: 'statement.dsse.json',
}

export function OtherVerifiers({ receiptId, sequence, trustedKeys }: OtherVerifiersProps) {
  const filename = useSignal('')
  const problem = useSignal<string | null>(null)

  const ask = (format: DsseFormat) => {
    const about = { receipt_id: receiptId, sequence: String(sequence), format }
    const query = new URLSearchParams({ ...about, ...(filename.value && { filename: filename.value }) })
    return getJson<DsseAnswer>(`/v1/storage/dsse?${query}`)
  }

  const attempt = async (work: () => Promise<void>) => {
    problem.value = null
    try {
      await work()
    } catch (error) {
      const { message, hint } = error as { message: string; hint?: string | null }
      problem.value = [message, hint].filter(Boolean).join('. ')
    }
  }

  const save = (format: DsseFormat) => attempt(async () => saveFile(NAMES[format], jsonBlob(await ask(format))))

  const saveKey = () =>
    attempt(async () => {
      const answer = await ask('dsse')
      const signature = 'signatures' in answer ? answer.signatures[0] : undefined
      const key = trustedKeys.find((hex) => issuerKeyId(hex) === signature?.keyid)
      if (key === undefined) problem.value = t.noKey
      else saveFile('gateway.pem', new Blob([pemOf(key)]))
    })

  return (
    <div class="stack">
      <p>{t.text}</p>
      <TextField label={t.file} hint={t.fileHint} text={filename} problem={problem} />
      <div class="row">
        <Button onClick={() => void save('sigstore-bundle')}>{t.sigstore}</Button>
        <Button onClick={() => void save('dsse')}>{t.dsse}</Button>
        <Button onClick={() => void saveKey()}>{t.key}</Button>
      </div>
      <p class="part-note">{t.keyHint}</p>
      <Code title={t.commands} label={t.commandsLabel} text={t.commandLines(shellWord(filename.value))} />
      <p class="part-note">{t.limits}</p>
    </div>
  )
}

function jsonBlob(value: unknown): Blob {
  return new Blob([JSON.stringify(value)], { type: 'application/json' })
}

/** Quotes an untrusted name, so that a shell runs no part of it. */
function shellWord(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1)
  if (last === '') return t.anyFile
  return /^[\w.][\w.-]*$/.test(last) ? last : `'./${last.replaceAll("'", `'\\''`)}'`
}

/** The prefix of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = '302a300506032b6570032100'

function pemOf(keyHex: string): string {
  const bytes = fromHex(SPKI_PREFIX + keyHex) as Uint8Array // keys are hex
  return `-----BEGIN PUBLIC KEY-----\n${btoa(String.fromCharCode(...bytes))}\n-----END PUBLIC KEY-----\n`
}
