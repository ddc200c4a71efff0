"""The file of the sentence encoder: quantises the weights and writes them.

Layout, little endian. A matrix is stored by rows, one row per output, with a scale and a bias for each:
  magic, then u32: word pieces, width, layers, attention heads, inner width, positions
  vocabulary   u32 length, then the word pieces, one a line
  word table   f32 scale per piece, then 4 bits per value (low half first), stored as value + 8
  positions    f32, with the vector of the token type added
  norm         f32 factors, f32 offsets
  each layer   query-key-value, output, norm, up, down, norm; a matrix is f32 scales, f32 biases, i8 weights
  heads        f32 weights and f32 biases of task, asks, meets
  SHA-256 of all of the above
"""

import hashlib
import struct

import numpy
import torch

MAGIC = b"ADJENC\x00\x01"


def quantise_words(table):
    """Returns the rows as integers from -7 to 7 and the scale of each row with the least squared error."""
    peak = table.abs().amax(1, keepdim=True).clamp(min=1e-6) / 7
    best, scale = torch.full_like(peak, float("inf")), peak.clone()
    for share in torch.arange(0.5, 1.01, 0.02):
        tried = peak * share
        error = ((table / tried).round().clamp(-7, 7) * tried - table).square().sum(1, keepdim=True)
        scale = torch.where(error < best, tried, scale)
        best = torch.minimum(best, error)
    return (table / scale).round().clamp(-7, 7), scale


def quantise_matrix(weight):
    """Returns the rows as integers from -127 to 127 and the scale of each row."""
    scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return (weight / scale).round().clamp(-127, 127), scale


def matrices(layer):
    """Returns (weight, bias) of the four products of a layer in the order of the file."""
    own, out = layer.attention.self, layer.attention.output.dense
    merged = [torch.cat([getattr(part, name) for part in (own.query, own.key, own.value)]) for name in ("weight", "bias")]
    up, down = layer.intermediate.dense, layer.output.dense
    return tuple(merged), (out.weight, out.bias), (up.weight, up.bias), (down.weight, down.bias)


@torch.no_grad()
def round_weights(bert):
    """Replaces the weights of the layers by what the file will hold."""
    for layer in bert.encoder.layer:
        own = layer.attention.self
        for part in (own.query, own.key, own.value, layer.attention.output.dense, layer.intermediate.dense, layer.output.dense):
            rounded, scale = quantise_matrix(part.weight)
            part.weight.copy_(rounded * scale)


def floats(values):
    return values.detach().numpy().astype("<f4").tobytes()


def norm_bytes(norm):
    return floats(norm.weight) + floats(norm.bias)


def matrix_bytes(pair):
    rounded, scale = quantise_matrix(pair[0])
    return floats(scale.flatten()) + floats(pair[1]) + rounded.detach().numpy().astype("i1").tobytes()


@torch.no_grad()
def asset_bytes(net, pieces, positions):
    """Returns the file of a network whose word table is rounded already."""
    bert, config = net.bert, net.bert.config
    sizes = (len(pieces), config.hidden_size, len(bert.encoder.layer), config.num_attention_heads, config.intermediate_size, positions)
    vocabulary = "\n".join(pieces).encode()
    rounded, scale = net.rounded_words
    halves = (rounded.numpy().astype(numpy.int8) + 8).astype(numpy.uint8)
    table = bert.embeddings
    place = table.position_embeddings.weight[:positions] + table.token_type_embeddings.weight[0]
    out = [MAGIC, struct.pack("<6I", *sizes), struct.pack("<I", len(vocabulary)), vocabulary]
    out += [floats(scale.flatten()), (halves[:, 0::2] | halves[:, 1::2] << 4).tobytes(), floats(place), norm_bytes(table.LayerNorm)]
    for layer in bert.encoder.layer:
        merged, output, up, down = map(matrix_bytes, matrices(layer))
        out += [merged, output, norm_bytes(layer.attention.output.LayerNorm), up, down, norm_bytes(layer.output.LayerNorm)]
    out += [floats(net.head.weight), floats(net.head.bias)]
    body = b"".join(out)
    return body + hashlib.sha256(body).digest()
