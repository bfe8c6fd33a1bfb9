#!/usr/bin/env bash
# From a quote to checked evidence with nothing but bash, curl and openssl 3. Works in the current folder:
#
#   npm start                                   (in another terminal)
#   bash docs/examples/story.sh
#
# With other addresses: GATEWAY=https://gateway.example RPC=https://rpc.example KEY=owner.pem bash story.sh

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/envelope.sh"
. "$here/pay.sh"

GATEWAY=${GATEWAY:-http://localhost:8402}
RPC=${RPC:-http://localhost:8899}
KEY=${KEY:-owner.pem}

[ -f "$KEY" ] || (umask 077 && openssl genpkey -algorithm ed25519 -out "$KEY")
echo "wallet     $(address)"
# Coins of the local chain. Fund a real wallet before you start.
case $RPC in http://localhost:* | http://127.0.0.1:*) rpc dev_faucet "[\"$(address)\",\"SOL\",\"1\"]" > faucet.json ;; esac

# 1. Quote: the expected answer is 402.
curl -sS -X POST "$GATEWAY/v1/storage/request" -H 'Content-Type: application/json' \
  -d '{"units":1,"pay_network":"primary-mainnet","pay_asset":"SOL"}' > quote.json
echo "quote      $(field amount < quote.json) lamports to $(field payTo < quote.json)"

# 2. Pay, with the reference of the quote in the memo.
TX=$(pay_coin "$(field payTo < quote.json)" "$(field amount < quote.json)" "$(field payment_reference < quote.json)")
echo "paid       $TX"

# 3. Confirm: 402 until the chain shows the transaction. The receipt is permanent.
for pause in 1 2 4 8 16 32; do
  curl -sS -X POST "$GATEWAY/v1/storage/confirm" -H "X402-TX: $TX" -H 'Content-Type: application/json' \
    -d "{\"pay_req_id\":\"$(field pay_req_id < quote.json)\"}" > receipt.json
  if grep -q '"ok":true' receipt.json; then break; fi
  [ "$(field error < receipt.json)" = tx_not_found ] || { cat receipt.json >&2; exit 1; }
  sleep $pause
done
RECEIPT=$(field receipt_id < receipt.json)
echo "receipt    $RECEIPT"

# 4. Open the locker. From here on requests are signed.
LOCKER=locker_$(printf %s "$RECEIPT" | sha256 | cut -c1-12)
call POST /v1/storage/signed_provision locker:provision "{\"receipt_id\":\"$RECEIPT\",\"tags\":[]}" > locker.json
echo "locker     $LOCKER"

# 5. Create a file, upload its bytes, have their hash recorded.
printf 'the sum is 42\n' > sum.txt
call POST "/v1/lockers/$LOCKER/files" locker:write '{"content_type":"text/plain","filename":"sum.txt"}' > urls.json
curl -sS --fail-with-body -X PUT "$(field upload_url < urls.json)" -H 'Content-Type: text/plain' --data-binary @sum.txt > put.json
curl -sS --fail-with-body -X POST "$GATEWAY/v1/files/confirm?receipt_id=$RECEIPT&filename=sum.txt" > confirmed.json
HASH=$(sha256 < sum.txt)
[ "$(field content_hash < confirmed.json)" = "sha256:$HASH" ]
echo "file       sum.txt sha256:$HASH"

# 6. Attest: a signed statement, published on chain.
call POST /v1/storage/attest locker:attest '' "?receipt_id=$RECEIPT&sync=true" > attested.json

# 7. The evidence, and what openssl can check of it: the root of the one file, and the signature of the statement.
curl -sS --fail-with-body "$GATEWAY/v1/storage/evidence-bundle?receipt_id=$RECEIPT" > bundle.json
LEAF=$(printf 'sum.txt:%d:%s' "$(wc -c < sum.txt)" "$HASH" | sha256)
[ "$(field merkle_root < bundle.json)" = "sha256:$LEAF" ]
echo "root       sha256:$LEAF"
printf '302a300506032b6570032100%s' "$(field issuer_pubkey < bundle.json)" | unhex | openssl pkey -pubin -inform DER > gateway.pem
(printf SVCGW_CONTENT_ENVELOPE_V2 && printf '00%s' "$(field statement_digest < bundle.json)" | unhex) > statement.bin
grep -o '"signature": *"[0-9a-f]*"' bundle.json | sed -n 1p | cut -d '"' -f 4 | unhex > statement.sig
openssl pkeyutl -verify -rawin -pubin -inkey gateway.pem -in statement.bin -sigfile statement.sig
echo "bundle     bundle.json; all of its facts: npx svc verify bundle.json --dir ."
