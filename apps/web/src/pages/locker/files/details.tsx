// The details of one file, and its actions.

import { useSignal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import { ENCRYPTED_ENDING } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { urlOf } from '../../../address.ts'
import { Button } from '../../../ui/button.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Filename } from '../../../ui/filename.tsx'
import { Icon } from '../../../ui/icons.tsx'
import type { LockerSession } from '../session.ts'
import { hasOpeningKey } from './encryption.ts'
import { FilePreview, previewKind } from './preview.tsx'
import { explainFileError } from './problems.ts'
import { dateText, type RowFacts, StatementCell } from './row.tsx'
import { viewerUrl } from './share.tsx'

interface DetailsProps {
  session: LockerSession
  file: FileEntry
  facts: RowFacts
  onDownload: () => void
  onShare: () => void
  onRename: () => void
  onDelete: () => void
  onKey: () => void
  onClose: () => void
}

export function FileDetails({
  session,
  file,
  facts,
  onDownload,
  onShare,
  onRename,
  onDelete,
  onKey,
  onClose,
}: DetailsProps) {
  const { filename, size_bytes, content_hash, content_type, uploaded_at } = file
  const lockerId = session.locker.locker_id
  const { public_link, receipt_id } = session.facts.value
  // Gateways without closable public links do not report it.
  const linkId = public_link ? public_link.id : receipt_id
  const hasBytes = uploaded_at !== null
  const kind = hasBytes ? previewKind(lockerId, file) : null
  const isEncrypted = filename.endsWith(ENCRYPTED_ENDING)
  return (
    <Dialog title={t.details.title} onClose={onClose}>
      <div class="stack">
        <p class="dialog-name">
          <Filename name={filename} />
        </p>
        {kind && <FilePreview session={session} file={file} kind={kind} />}
        {isEncrypted && (
          <p class="row">
            <Icon name="lock" /> {t.details.encrypted}
            <Button kind="quiet" onClick={onKey}>
              {hasOpeningKey(lockerId) ? t.details.giveOther : t.details.setKey}
            </Button>
          </p>
        )}
        <div class="row">
          <Button kind="primary" onClick={onDownload} disabled={!hasBytes}>
            <Icon name="download" />
            {isEncrypted && hasOpeningKey(lockerId) ? t.details.downloadDecrypted : t.details.download}
          </Button>
          <Button onClick={onShare} disabled={!hasBytes}>
            {t.details.share}
          </Button>
          <Button onClick={onRename}>{t.details.rename}</Button>
          <Button onClick={onDelete}>{t.details.delete}</Button>
          {hasBytes && linkId !== null && (
            <a class="button" href={viewerUrl(linkId, filename)} target="_blank" rel="noreferrer">
              {t.details.viewer}
            </a>
          )}
        </div>
        <dl class="file-facts">
          <dt>{t.details.size}</dt>
          <dd>{size_bytes === null ? '–' : t.details.bytes(common.bytes(size_bytes), common.number(size_bytes))}</dd>
          <dt>{t.details.type}</dt>
          <dd>
            <Filename name={content_type} />
          </dd>
          <dt>{t.details.changed}</dt>
          <dd>{dateText(uploaded_at)}</dd>
          <dt>{t.details.hash}</dt>
          <dd>{content_hash ? <Copyable text={content_hash} what={t.details.hashName} /> : t.details.noHash}</dd>
          <dt>{t.details.statement}</dt>
          <dd>
            <StatementCell file={file} facts={facts} />
          </dd>
        </dl>
        {content_hash && facts.statement && <ProofCheck session={session} file={file} />}
        <p>
          <a href={urlOf(`/verify/${facts.receiptId}`)}>{t.details.verify}</a>
        </p>
      </div>
    </Dialog>
  )
}

type Checked = { ok: true; root: string; isSigned: boolean } | { ok: false; why: string }

/** The path from this file to the root of the newest statement, computed here. */
function ProofCheck({ session: { client, locker }, file }: { session: LockerSession; file: FileEntry }) {
  const checked = useSignal<Checked | null>(null)
  const isBusy = useSignal(false)
  const check = async () => {
    isBusy.value = true
    try {
      const { file_entry, merkle_root, statement } = await client.proof(locker.receipt_id, file.filename)
      checked.value =
        file_entry.content_hash === file.content_hash
          ? { ok: true, root: merkle_root, isSigned: statement !== null }
          : { ok: false, why: t.details.otherBytes }
    } catch (error) {
      const why = isGatewayError(error, 'FILE_NOT_ATTESTED') ? t.details.notInStatement : explainFileError(error).title
      checked.value = { ok: false, why }
    }
    isBusy.value = false
  }
  if (!checked.value)
    return (
      <div class="row">
        <Button busy={isBusy.value} onClick={() => void check()}>
          {t.details.checkProof}
        </Button>
      </div>
    )
  return (
    <div role="status" class={checked.value.ok ? 'note note-good' : 'note note-bad'}>
      {checked.value.ok ? (
        <>
          <p>{checked.value.isSigned ? t.details.proofLeads : t.details.proofUnsigned}</p>
          <code>{checked.value.root}</code>
        </>
      ) : (
        checked.value.why
      )}
    </div>
  )
}
