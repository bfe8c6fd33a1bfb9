import { dsse } from '@svc/api/dsse'
import * as evidence from '@svc/api/evidence'
import * as proofs from '@svc/api/proofs'
import { serve, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../../context.ts'
import { readAttestCode, readByToken, readReceiptToken } from './attest-code.ts'
import { readDsse } from './dsse.ts'
import { readEvidenceBundle } from './evidence-bundle.ts'
import { listStatements } from './list-statements.ts'
import { readMerkleProof } from './merkle-proof.ts'
import { readPublishedAnchor } from './published-anchor.ts'
import { recomputeVerify } from './recompute/recompute-verify.ts'
import { selfVerify } from './recompute/self-verify.ts'
import { readRedactedBundle } from './redacted-bundle.ts'
import { retrieve, retrievePayment } from './retrieve.ts'
import { simulateAttest } from './simulate-attest.ts'
import { readVerificationBundle } from './verification-bundle.ts'
import { verify } from './verify.ts'

export function evidenceRoutes(service: Service, context: Context): void {
  const { auth } = context
  warnOfOpenComputing(context)
  serve(service, evidence.verify, ({ query, wire }) => verify(context, wire, query))
  serve(service, evidence.verifyByPost, ({ body, wire }) => verify(context, wire, body))
  serve(service, evidence.publishedAnchor, ({ params }) => readPublishedAnchor(context, params.id))
  serve(service, evidence.statements, ({ query }) => listStatements(context, query))
  serve(service, evidence.retrieve, ({ query, wire }) => retrieve(context, wire, query))
  serve(service, evidence.retrievePayment, ({ query }) => retrievePayment(context, query.receipt_id))
  serve(service, evidence.attestCode, ({ query }) => readAttestCode(context, query))
  serve(service, evidence.simulateAttest, ({ body, wire }) => simulateAttest(context, wire, body.receipt_id))
  serveKnown(
    service,
    evidence.attestCodeByToken,
    (wire) => readReceiptToken(context, auth.receiptTokens, wire),
    ({ caller }) => readByToken(context, caller),
  )
  serve(service, proofs.merkleProof, ({ query }) => readMerkleProof(context, query))
  serve(service, proofs.verificationBundle, ({ query, wire }) => readVerificationBundle(context, wire, query))
  serve(service, proofs.evidenceBundle, ({ query, wire }) => readEvidenceBundle(context, wire, query))
  serve(service, proofs.redactedBundle, ({ query, wire }) => readRedactedBundle(context, wire, query))
  serve(service, dsse, ({ query, wire }) => readDsse(context, wire, query))
  serve(service, proofs.recomputeVerify, ({ query, wire }) => recomputeVerify(context, wire, query.receipt_id))
  serve(service, proofs.selfVerify, ({ query, wire }) => selfVerify(context, wire, query))
}

/** Without a secret for oracles, anyone can trigger the work of a first statement (ATT-17). */
function warnOfOpenComputing({ config, log, auth }: Context): void {
  if (config.mode === 'development' || !auth.mayCompute({ headers: {} })) return
  log.warn(
    'ORACLE_CALLBACK_SECRET is not set: anyone can trigger the computation of a first statement by GET /v1/retrieve',
  )
}
